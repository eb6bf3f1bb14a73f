#include "toolchain/synth/sframe_expressible.h"

#include <stddef.h>

/* RA is in the header's place, or in its register: flexible rows then omit it. */
static bool ra_is_usual(enum sfb_abi abi, const struct sfb_rule *rule)
{
    const int fixed = sfb_abi_registers(abi).fixed_ra;

    return fixed != 0 ? rule->ra.where == SFB_WHERE_CFA && rule->ra.offset == fixed
                      : rule->ra.where == SFB_WHERE_UNSAVED;
}

/* 1.4 allows it; readers confuse it with binutils 2.40's rows for other registers. */
static bool is_inside_frame(enum sfb_abi abi, const struct sfb_rule *rule)
{
    return rule->cfa_base == SFB_BASE_SP && rule->cfa_offset < -sfb_abi_registers(abi).fixed_ra;
}

const char *synth_inexpressible(enum sfb_abi abi, const struct sfb_rule *rule)
{
    const bool amd64 = abi == SFB_ABI_AMD64_LE;

    if (rule->flags & SFB_RULE_OUTERMOST)
        return "the return address is undefined: outermost";
    if (rule->flags & SFB_RULE_SIGNAL)
        return "a signal frame";
    if (rule->flags & SFB_RULE_CFA_DEREF)
        return "the CFA is a word in memory";
    if (rule->cfa_base != SFB_BASE_SP && rule->cfa_base != SFB_BASE_FP)
        return "the CFA is counted from a register other than sp and fp";
    if (is_inside_frame(abi, rule))
        return "the CFA lies inside of the frame";
    if (rule->sp.where != SFB_WHERE_UNSAVED)
        return "sp has a rule of its own";
    if (amd64 && !ra_is_usual(abi, rule))
        return "the return address is not at CFA-8";
    if (rule->ra.where != SFB_WHERE_UNSAVED && rule->ra.where != SFB_WHERE_CFA)
        return "the return address is neither in its register nor in the frame";
    if (rule->fp.where != SFB_WHERE_UNSAVED && rule->fp.where != SFB_WHERE_CFA)
        return "fp is saved neither in its register nor in the frame";
    /* Two offsets mean CFA and RA. */
    if (!amd64 && rule->fp.where == SFB_WHERE_CFA && rule->ra.where == SFB_WHERE_UNSAVED)
        return "fp is saved and the return address is not";
    return NULL;
}

/* Signal trampolines have a rule for sp that equals the CFA. */
static bool sp_is_cfa(enum sfb_abi abi, const struct sfb_rule *rule)
{
    const struct sfb_abi_registers known = sfb_abi_registers(abi);
    const uint8_t base = rule->cfa_base == SFB_BASE_SP   ? known.sp
                         : rule->cfa_base == SFB_BASE_FP ? known.fp
                                                         : rule->cfa_reg;
    const uint8_t as_base = rule->flags & SFB_RULE_CFA_DEREF ? SFB_WHERE_AT_REG : SFB_WHERE_IS_REG;

    if (rule->sp.where == SFB_WHERE_UNSAVED)
        return true;
    if (rule->sp.where == SFB_WHERE_IS_CFA)
        return rule->sp.offset == 0;
    return rule->sp.where == as_base && rule->sp.reg == base &&
           rule->sp.offset == rule->cfa_offset && rule->cfa_add == 0;
}

static const char *inexpressible_in_pairs(enum sfb_abi abi, const struct sfb_rule *rule)
{
    if ((rule->flags & SFB_RULE_CFA_DEREF) && rule->cfa_add != 0)
        return "the CFA is a word in memory and a number";
    /* Only if RA is where a call pushes it: other rows are written by hand. */
    if (!(rule->flags & SFB_RULE_CFA_DEREF) && is_inside_frame(abi, rule) &&
        rule->ra.where == SFB_WHERE_CFA && rule->ra.offset == sfb_abi_registers(abi).fixed_ra)
        return "the CFA lies inside of the frame";
    if (!sp_is_cfa(abi, rule))
        return "sp has a rule of its own";
    /* The control word would be 0, which means unstated. */
    if (rule->ra.where == SFB_WHERE_IS_CFA)
        return "the return address is the CFA and a number";
    if (rule->fp.where == SFB_WHERE_IS_CFA)
        return "fp is the CFA and a number";
    if (abi == SFB_ABI_AMD64_LE && rule->ra.where == SFB_WHERE_UNSAVED)
        return "the return address was never pushed";
    return NULL;
}

bool synth_is_flexible(enum sfb_abi abi, const struct sfb_rule *rule)
{
    struct sfb_rule plain = *rule;

    plain.flags &= (uint8_t)~SFB_RULE_SIGNAL;
    return !(rule->flags & SFB_RULE_OUTERMOST) && synth_inexpressible(abi, &plain) != NULL;
}

const char *synth_inexpressible_in(unsigned version, enum sfb_abi abi, const struct sfb_rule *rule)
{
    if (version < 3)
        return synth_inexpressible(abi, rule);
    return synth_is_flexible(abi, rule) ? inexpressible_in_pairs(abi, rule) : NULL;
}
