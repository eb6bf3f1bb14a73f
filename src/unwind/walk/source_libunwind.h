/*
 * libunwind as a source of whole steps: it keeps its rules to itself, so it joins one level above
 * the tables.
 */
#ifndef SFB_UNWIND_WALK_SOURCE_LIBUNWIND_H
#define SFB_UNWIND_WALK_SOURCE_LIBUNWIND_H

#include "unwind/walk/walk_state.h"

/*
 * Words that libunwind may read in one walk, where a step takes some hundred. It believes tables: an
 * expression that jumps back goes round for ever; and frames of a byte each, one after the other
 * from where all registers are known, lead through all of a stack. This many take 20 ms.
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
