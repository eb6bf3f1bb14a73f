/*
 * What proves that the frame record at fp is that of the frame which the walk stands on.
 *
 * A function that leaves fp alone and calls is passed over: the record at fp is that of a caller further
 * out. Then its own return address lies between its sp and the record:
 *
 *     |  the record at fp     |    of whoever keeps one
 *     |  ...                  |
 *     |  return address       | <- behind a call
 *     |  ...                  |
 *     +-----------------------+ <- sp
 *
 * So the record is the frame's own if no word between the two can be a return address. A word left over
 * from an older frame looks the same: then the record may be its own, and nothing proves it, unless the code
 * around the pc stores rbp in that very place, as Go's does.
 */
#ifndef SFB_UNWIND_WALK_PROOF_H
#define SFB_UNWIND_WALK_PROOF_H

#include "unwind/walk/walk_state.h"

/*
 * @param record  where fp leads to
 * @return whether a word between the walk's sp and the record can be a return address, or cannot be
 *         read; true, too, if they are more than 4 KiB apart
 */
bool sfb_can_hide_frame(struct sfb_walk *walker, uint64_t record);

/* @return whether the code of the frame that the walk stands on stores a record there */
bool sfb_stores_record(struct sfb_walk *walker, uint64_t record);

#endif
