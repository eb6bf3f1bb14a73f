/* Rows that come too late: behind the instruction that restores fp, where a function has realigned its stack. */
#ifndef SFB_UNWIND_WALK_LATE_FP_H
#define SFB_UNWIND_WALK_LATE_FP_H

#include "unwind/walk/walk_state.h"

/*
 * Mends the rule of an interrupted frame that says "fp is at [fp + 0]" where the code has restored fp. There fp is the
 * caller's, and may lead to the caller's own frame record, which would be passed over.
 *
 * @param out  written on true; may be the rule itself
 * @return whether the rule is one of those
 */
bool sfb_late_fp_mend(struct sfb_walk *walker, const struct sfb_rule *rule, uint64_t pc,
                      enum sfb_frame_kind kind, struct sfb_rule *out);

#endif
