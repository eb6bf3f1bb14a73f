/*
 * Proves that the frame record at fp belongs to the walk's frame.
 *
 * A function may call without storing a record. Then the record at fp belongs to a caller further out,
 * and a step by it skips a frame. In that case the function's return address lies between its sp and
 * the record:
 *
 *     |  the record at fp     |    of a function that stores one
 *     |  ...                  |
 *     |  return address       | <- behind a call
 *     |  ...                  |
 *     +-----------------------+ <- sp
 *
 * So the record is the frame's own if no word between the two can be a return address. A word left from
 * an older frame looks like one. Then the record may be the frame's own, but this is unproven, unless
 * the code around the pc stores rbp in that place, as Go's does.
 */
#ifndef SFB_UNWIND_WALK_PROOF_H
#define SFB_UNWIND_WALK_PROOF_H

#include "unwind/walk/walk_state.h"

/*
 * @param record  address of the record at fp
 * @return whether a word between the walk's sp and the record can be a return address, or is
 *         unreadable; true, too, if they are more than 4 KiB apart
 */
bool sfb_can_hide_frame(struct sfb_walk *walker, uint64_t record);

/* @return whether the code of the walk's frame stores a record there */
bool sfb_stores_record(struct sfb_walk *walker, uint64_t record);

#endif
