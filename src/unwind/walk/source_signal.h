/* The registers that the kernel saved for a signal handler, as a source. */
#ifndef SFB_UNWIND_WALK_SOURCE_SIGNAL_H
#define SFB_UNWIND_WALK_SOURCE_SIGNAL_H

#include "unwind/walk/walk_state.h"

/*
 * Takes the walker's registers from a signal trampoline to the interrupted frame, only on SFB_OK,
 * and walker->anchor with them, of which a part may have been written where that frame cannot be read.
 *
 * @return SFB_OK; SFB_NO_CODE_PATTERN (no trampoline: a miss); SFB_NO_REGISTER, SFB_SIGNAL_LIMIT,
 *         SFB_UNREADABLE
 */
enum sfb_status sfb_signal_step(struct sfb_walk *walker);

#endif
