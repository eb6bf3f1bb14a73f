/* Finds all registers of an outer frame; see replay.c. */
#ifndef SFB_UNWIND_WALK_REPLAY_H
#define SFB_UNWIND_WALK_REPLAY_H

#include "unwind/walk/walk_state.h"

/*
 * Walks again, by .eh_frame, from the anchor to the current frame. The current frame then becomes the
 * anchor: its callee-saved registers are known.
 *
 * @return false: a frame between the two has no row, or a row that does not lead to the current frame;
 *         walker->anchor is a frame in between, or all zeros
 */
bool sfb_replay(struct sfb_walk *walker);

#endif
