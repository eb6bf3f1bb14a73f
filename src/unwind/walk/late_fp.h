/* Late rows: in functions that realign their stack, some rows change too late after fp is restored. */
#ifndef SFB_UNWIND_WALK_LATE_FP_H
#define SFB_UNWIND_WALK_LATE_FP_H

#include "unwind/walk/walk_state.h"

/*
 * Corrects a rule of an interrupted frame: it states "fp is at [fp + 0]", but the code has already restored fp. Then fp
 * is the caller's. The wrong rule would read it at the caller's frame record, and skip the caller.
 *
 * @param out  written on true; may be the rule itself
 * @return whether the rule was late
 */
bool sfb_late_fp_mend(struct sfb_walk *walker, const struct sfb_rule *rule, uint64_t pc,
                      enum sfb_frame_kind kind, struct sfb_rule *out);

#endif
