/* Finds all registers of an outer frame; see replay.c. */
#ifndef SFB_UNWIND_WALK_REPLAY_H
#define SFB_UNWIND_WALK_REPLAY_H

#include "unwind/walk/walk_state.h"

/*
 * Walks again, by .eh_frame, from the nearest inner frame of which all registers are known to the
 * current one, which then is that frame: the registers that calls preserve are known.
 *
 * @return false: some frame between the two has no rows, or a row that does not lead there;
 *         walker->anchor is one of those frames, or all zeros
 */
bool sfb_replay(struct sfb_walk *walker);

#endif
