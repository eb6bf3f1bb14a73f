/* The chain of frame records as a source, for code that no table covers. See the .c file. */
#ifndef SFB_UNWIND_WALK_SOURCE_FRAME_POINTER_H
#define SFB_UNWIND_WALK_SOURCE_FRAME_POINTER_H

#include "unwind/walk/walk_state.h"

/*
 * Takes the walker's registers from its current frame to the caller's, only on SFB_OK. After that the
 * walker's sp is only a lower bound, until a rule or sfb_frame_pointer_find_sp() finds it.
 *
 * @return SFB_OK, SFB_END; SFB_NO_FRAME_RECORD (a miss)
 */
enum sfb_status sfb_frame_pointer_step(struct sfb_walk *walker);

/*
 * Finds the sp of a frame that has rows, if fp leads to its own frame record.
 *
 * @param pc  to look up in the tables
 * @return SFB_OK: sp is known again, or the frame's rule does not need it; SFB_NO_REGISTER; a miss, or
 *         the section's fault
 */
enum sfb_status sfb_frame_pointer_find_sp(struct sfb_walk *walker, uint64_t pc);

#endif
