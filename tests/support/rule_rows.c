#include "rule_rows.h"

static struct said rule_value(uint8_t where, uint8_t reg, int32_t offset, uint64_t cfa)
{
    const bool of_register = where == SFB_WHERE_AT_REG || where == SFB_WHERE_IS_REG;
    uint64_t place = (of_register ? register_value(reg) : cfa) + (uint64_t)(int64_t)offset;

    if (where == SFB_WHERE_UNSAVED)
        return (struct said){ SAME, 0 };
    if (where == SFB_WHERE_CFA || where == SFB_WHERE_AT_REG)
        place = word_at(place);
    return (struct said){ VALUE, place };
}

struct row rule_row(const struct sfb_rule *r, struct registers known)
{
    const unsigned base = r->cfa_base == SFB_BASE_SP   ? known.sp
                          : r->cfa_base == SFB_BASE_FP ? known.fp
                                                       : r->cfa_reg;
    struct row row = { .signal = (r->flags & SFB_RULE_SIGNAL) != 0 };
    uint64_t cfa = register_value(base) + (uint64_t)(int64_t)r->cfa_offset;

    if (r->flags & SFB_RULE_CFA_DEREF)
        cfa = word_at(cfa) + (uint64_t)(int64_t)r->cfa_add;
    row.cfa = (struct said){ VALUE, cfa };
    row.ra = rule_value(r->ra.where, r->ra.reg, r->ra.offset, cfa);
    row.fp = rule_value(r->fp.where, r->fp.reg, r->fp.offset, cfa);
    row.sp = rule_value(r->sp.where, r->sp.reg, r->sp.offset, cfa);
    if (r->sp.where == SFB_WHERE_UNSAVED)
        row.sp = row.cfa;
    return row;
}

bool said_equal(struct said a, struct said b)
{
    return a.kind == b.kind && a.value == b.value;
}

bool is_unmoved(struct said ra, unsigned column)
{
    return ra.kind == SAME || (ra.kind == VALUE && ra.value == register_value(column));
}
