#include "unwind/walk/late_fp.h"

#include "unwind/machine/arch.h"
#include "unwind/machine/insn_patterns.h"

bool sfb_late_fp_mend(struct sfb_walk *walker, const struct sfb_rule *rule, uint64_t pc,
                      enum sfb_frame_kind kind, struct sfb_rule *out)
{
    if (kind != SFB_FRAME_PC || rule->fp.where != SFB_WHERE_AT_REG || rule->fp.reg != SFB_ARCH_FP ||
        rule->fp.offset != 0 ||
        !sfb_arch_has_restored_fp(&walker->table_memory, pc, rule->cfa_base == SFB_BASE_SP))
        return false;
    *out = *rule;
    out->fp = (struct sfb_saved){ .where = SFB_WHERE_UNSAVED };
    return true;
}
