/* The registers that the kernel saved for a signal handler, as a source. */
#ifndef SFB_UNWIND_WALK_SOURCE_SIGNAL_H
#define SFB_UNWIND_WALK_SOURCE_SIGNAL_H

#include "unwind/walk/walk_state.h"

/*
 * Takes the walker's registers from a signal trampoline to the interrupted frame, only on SFB_OK.
 * walker->anchor becomes that frame. On failure a part of the anchor may have been written.
 *
 * @return SFB_OK; SFB_NO_CODE_PATTERN (no trampoline: a miss); SFB_NO_REGISTER, SFB_SIGNAL_LIMIT,
 *         SFB_UNREADABLE
 */
enum sfb_status sfb_signal_step(struct sfb_walk *walker);

#endif
