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
#include "flexible.h"

#include "base/fail.h"
#include "format.h"

/* The registers that rules name by themselves, as DWARF counts them. */
struct known {
    uint8_t sp, fp;
};

static struct known known_registers(uint8_t abi)
{
    return abi == SFB_ABI_AMD64_LE ? (struct known){ 7, 6 } : (struct known){ 31, 29 };
}

/* @return false: the row ends within the pair, or a bit is set that means nothing */
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

/* A rule has a byte for a register's number; no ABI that is read here numbers more of them. */
static bool is_stateable(const struct sfb_location *at)
{
    return at->reg <= UINT8_MAX;
}

static bool set_cfa(struct sfb_rule *rule, const struct sfb_location *cfa, struct known known)
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
        rule->flags |= SFB_RULE_GENERAL;
    }
    if (cfa->deref)
        rule->flags |= SFB_RULE_CFA_DEREF | SFB_RULE_GENERAL;
    return true;
}

/* Where RA or FP is, `fixed` being what the header says of it. @return what the rule needs for it
 */
static uint8_t set_saved(uint8_t *where, uint8_t *reg, int32_t *offset,
                         const struct sfb_location *at, int32_t fixed)
{
    if (at->how != SFB_LOCATION_SAID) {
        *where = fixed != 0 ? SFB_WHERE_CFA : SFB_WHERE_SAME;
        *offset = fixed;
        return 0;
    }
    *offset = at->offset;
    if (at->reg_based) {
        *where = at->deref ? SFB_WHERE_AT_REG : SFB_WHERE_IS_REG;
        *reg = (uint8_t)at->reg;
        return SFB_RULE_GENERAL;
    }
    *where = at->deref ? SFB_WHERE_CFA : SFB_WHERE_IS_CFA;
    return at->deref ? 0 : SFB_RULE_GENERAL;
}

/*
 * The word of a return address that a call pushed lies below the CFA and not below sp: see
 * sfb_fre_cfa_is_bad(). Where RA is said to be elsewhere the CFA may be sp itself, or even below
 * it: what a row of this kind says was counted by hand.
 */
static bool cfa_is_bad(const struct sfb_section *section, const struct sfb_rule *rule)
{
    return rule->cfa_base == SFB_BASE_SP && (rule->flags & SFB_RULE_CFA_DEREF) == 0 &&
           rule->ra_where == SFB_WHERE_CFA && rule->ra_offset == section->fixed_ra &&
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
        !set_cfa(&rule, &at[SFB_LOCATION_CFA], known_registers(section->abi)))
        goto bad;
    rule.flags |= set_saved(&rule.ra_where, &rule.ra_reg, &rule.ra_offset, &at[SFB_LOCATION_RA],
                            section->fixed_ra);
    rule.flags |= set_saved(&rule.fp_where, &rule.fp_reg, &rule.fp_offset, &at[SFB_LOCATION_FP],
                            section->fixed_fp);
    if (cfa_is_bad(section, &rule))
        goto bad;
    *out = rule;
    return SFB_OK;

bad:
    return sfb_fail(error, SFB_BAD_FRE, "sfre_info",
                    (uint64_t)section->fre_offset + fre->position + (1u << (fde->fre_type & 3)));
}
