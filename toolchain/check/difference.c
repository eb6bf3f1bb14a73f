#include "toolchain/check/difference.h"

#include "toolchain/check/codes.h"
#include "toolchain/synth/sframe_expressible.h"

static bool same_saved(const struct sfb_saved *a, const struct sfb_saved *b)
{
    if (a->where != b->where)
        return false;
    return a->where == SFB_WHERE_UNSAVED || (a->reg == b->reg && a->offset == b->offset);
}

unsigned rule_difference(const struct sfb_rule *rule, const struct cfi_row *row)
{
    const struct sfb_rule *a = rule, *b = &row->rule;
    const unsigned differ = a->flags ^ (unsigned)b->flags;

    if (differ & SFB_RULE_OUTERMOST)
        return CODE_RA_DIFFERS;
    if (a->flags & SFB_RULE_OUTERMOST)
        return 0;
    if (a->cfa_base != b->cfa_base || a->cfa_offset != b->cfa_offset ||
        (a->cfa_base == SFB_BASE_REG && a->cfa_reg != b->cfa_reg) ||
        (differ & SFB_RULE_CFA_DEREF) != 0 ||
        ((a->flags & SFB_RULE_CFA_DEREF) != 0 && a->cfa_add != b->cfa_add))
        return CODE_CFA_DIFFERS;
    if (!same_saved(&a->ra, &b->ra))
        return CODE_RA_DIFFERS;
    if (!same_saved(&a->fp, &b->fp))
        return CODE_FP_DIFFERS;
    if (row->signs_known && (differ & SFB_RULE_RA_SIGNED) != 0)
        return CODE_SIGNED_DIFFERS;
    if (differ & SFB_RULE_SIGNAL)
        return CODE_SIGNAL_DIFFERS;
    return 0;
}

const char *rule_inexpressible(const struct sframe_version *version, uint8_t abi,
                               const struct cfi_row *row)
{
    const struct sfb_rule *r = &row->rule;

    if (row->answer == CFI_BEYOND)
        return row->reason;
    /* AMD64, RA never pushed: version 3 can leave it unstated, so a row that states it is wrong. */
    if (version->has_attribute && abi == SFB_ABI_AMD64_LE && r->ra.where == SFB_WHERE_UNSAVED)
        return NULL;
    return synth_inexpressible_in(version->number, (enum sfb_abi)abi, r);
}
