/*
 * libunwind as a source of whole steps: it does not give its rules, so it is one level above the
 * tables.
 */
#ifndef SFB_UNWIND_WALK_SOURCE_LIBUNWIND_H
#define SFB_UNWIND_WALK_SOURCE_LIBUNWIND_H

#include "unwind/walk/walk_state.h"

/*
 * Most words that libunwind may read in a walk; a step takes some hundred. libunwind trusts tables: an
 * expression that jumps back never ends, and a chain of one-byte frames from the anchor leads through
 * the whole stack. This many words take 20 ms.
 */
enum { SFB_LIBUNWIND_READS_MAX = 1 << 20 };

/*
 * Takes the walker's registers from its current frame to the caller's; only on SFB_OK.
 *
 * @return SFB_OK, SFB_END; SFB_NO_LIBUNWIND, SFB_NO_SP, SFB_NO_MODULE, SFB_NO_CFI (a miss);
 * SFB_BAD_CFI; SFB_NO_REGISTER, SFB_UNREADABLE, SFB_NO_PROGRESS, SFB_ZERO_RA, SFB_UNWINDER_ERROR
 */
enum sfb_status sfb_libunwind_step(struct sfb_walk *walker);

#endif
