/*
 * The words of a flexible row, as (control, offset):
 *
 *     CFA pair | RA pair | FP pair
 *     CFA pair | 0       | FP pair      a control word of 0: nothing is said, the header's offset
 *     CFA pair | RA pair                holds, or the register is unchanged
 *     CFA pair
 *
 * The pseudo code in appendix A of the specification counts FP's words the wrong way round; its
 * section 3.2, gas and libsframe do it as here.
 */
#include "sframe/flexible.h"

#include "base/fail.h"
#include "sfb/abi.h"
#include "sframe/format.h"

/* @return false: the row ends within the pair, or an undefined bit is set */
static bool read_location(const struct sfb_fre *fre, uint32_t *next, struct sfb_location *out)
{
    const uint32_t mask = UINT32_MAX >> (32 - 8 * fre->word_size);
    uint32_t control;

    if (*next >= fre->offset_count)
        return true;
    control = (uint32_t)fre->offset[(*next)++] & mask; /* controls have no sign */
    out->how = SFB_LOCATION_PADDED;
    if (control == SFB_CONTROL_NONE)
        return true;
    if (*next >= fre->offset_count || (control & SFB_CONTROL_UNUSED) != 0)
        return false;
    out->how = SFB_LOCATION_SAID;
    out->reg_based = (control & SFB_CONTROL_REG) != 0;
    out->deref = (control & SFB_CONTROL_DEREF) != 0;
    out->reg = control >> SFB_CONTROL_REG_SHIFT;
    out->offset = fre->offset[(*next)++];
    return true;
}

enum sfb_status sfb_fre_locations(const struct sfb_fre *fre,
                                  struct sfb_location out[SFB_LOCATION_COUNT])
{
    uint32_t next = 0;

    for (unsigned i = 0; i < SFB_LOCATION_COUNT; i++)
        out[i] = (struct sfb_location){ .how = SFB_LOCATION_ABSENT };
    for (unsigned i = 0; i < SFB_LOCATION_COUNT; i++)
        if (!read_location(fre, &next, &out[i]))
            return SFB_BAD_FRE;
    return next == fre->offset_count ? SFB_OK : SFB_BAD_FRE;
}

/* A rule has a byte for a register's number: enough for each supported ABI. */
static bool is_stateable(const struct sfb_location *at)
{
    return at->reg <= UINT8_MAX;
}

static bool set_flexible_cfa(struct sfb_rule *rule, const struct sfb_location *cfa,
                             struct sfb_abi_registers known)
{
    if (cfa->how != SFB_LOCATION_SAID || !cfa->reg_based)
        return false;
    rule->cfa_offset = cfa->offset;
    if (cfa->reg == known.sp) {
        rule->cfa_base = SFB_BASE_SP;
    } else if (cfa->reg == known.fp) {
        rule->cfa_base = SFB_BASE_FP;
    } else {
        rule->cfa_base = SFB_BASE_REG;
        rule->cfa_reg = (uint8_t)cfa->reg;
        rule->flags |= SFB_RULE_ANY_REGISTER;
    }
    if (cfa->deref)
        rule->flags |= SFB_RULE_CFA_DEREF | SFB_RULE_ANY_REGISTER;
    return true;
}

/* Sets the place of RA or FP. fixed: the header's offset. @return flags that the rule needs for it
 */
static uint8_t set_saved(struct sfb_saved *out, const struct sfb_location *at, int32_t fixed)
{
    if (at->how != SFB_LOCATION_SAID) {
        out->where = fixed != 0 ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED;
        out->offset = fixed;
        return 0;
    }
    out->offset = at->offset;
    if (at->reg_based) {
        out->where = at->deref ? SFB_WHERE_AT_REG : SFB_WHERE_IS_REG;
        out->reg = (uint8_t)at->reg;
        return SFB_RULE_ANY_REGISTER;
    }
    out->where = at->deref ? SFB_WHERE_CFA : SFB_WHERE_IS_CFA;
    return at->deref ? 0 : SFB_RULE_ANY_REGISTER;
}

/*
 * A return address pushed by a call lies below the CFA and not below sp: see sfb_fre_cfa_is_bad(). If the
 * row states another place for RA, the CFA may be sp itself, or even below it: such rows were written by
 * hand.
 */
static bool cfa_is_bad(const struct sfb_section *section, const struct sfb_rule *rule)
{
    return rule->cfa_base == SFB_BASE_SP && (rule->flags & SFB_RULE_CFA_DEREF) == 0 &&
           rule->ra.where == SFB_WHERE_CFA && rule->ra.offset == section->fixed_ra &&
           rule->cfa_offset < -section->fixed_ra;
}

enum sfb_status sfb_flexible_rule(const struct sfb_section *section, const struct sfb_fde *fde,
                                  const struct sfb_fre *fre, struct sfb_rule *out,
                                  struct sfb_error *error)
{
    struct sfb_rule rule = { .flags = (uint8_t)((fre->mangled_ra ? SFB_RULE_RA_SIGNED : 0) |
                                                (fde->key_b ? SFB_RULE_RA_KEY_B : 0) |
                                                (fde->signal ? SFB_RULE_SIGNAL : 0)) };
    struct sfb_location at[SFB_LOCATION_COUNT];

    if (sfb_fre_locations(fre, at) != SFB_OK || !is_stateable(&at[SFB_LOCATION_CFA]) ||
        !is_stateable(&at[SFB_LOCATION_RA]) || !is_stateable(&at[SFB_LOCATION_FP]) ||
        !set_flexible_cfa(&rule, &at[SFB_LOCATION_CFA], sfb_abi_registers(section->abi)))
        goto bad;
    rule.flags |= set_saved(&rule.ra, &at[SFB_LOCATION_RA], section->fixed_ra);
    rule.flags |= set_saved(&rule.fp, &at[SFB_LOCATION_FP], section->fixed_fp);
    if (cfa_is_bad(section, &rule))
        goto bad;
    *out = rule;
    return SFB_OK;

bad:
    return sfb_fail(error, SFB_BAD_FRE, "sfre_info",
                    (uint64_t)section->fre_offset + fre->position + (1u << (fde->fre_type & 3)));
}
