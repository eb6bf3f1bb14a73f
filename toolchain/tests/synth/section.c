#include "section.h"

#include <inttypes.h>
#include <stdio.h>

static struct place place_from(const struct sfb_saved *saved)
{
    struct place p = { .how = ELSEWHERE, .reg = saved->reg, .offset = saved->offset };

    switch (saved->where) {
    case SFB_WHERE_UNSAVED: p.how = UNTOUCHED; break;
    case SFB_WHERE_CFA: p.how = IN_FRAME; break;
    case SFB_WHERE_AT_REG: p.how = AT_REGISTER; break;
    case SFB_WHERE_IS_REG: p.how = IS_REGISTER; break;
    default: break;
    }
    return p;
}

struct answer section_answer(const struct sfb_section *section, const struct machine *m,
                             uint64_t pc)
{
    struct answer a = { .given = false };
    struct sfb_rule rule;
    enum sfb_status status = sfb_section_find(section, pc, &rule, NULL);

    if (status == SFB_NO_FDE || status == SFB_NO_FRE)
        return a;
    if (status != SFB_OK) {
        printf("0x%" PRIx64 ": %s\n", pc, sfb_status_str(status));
        return a;
    }
    a.given = true;
    a.flags = rule.flags;
    a.outermost = (rule.flags & SFB_RULE_OUTERMOST) != 0;
    a.signal = (rule.flags & SFB_RULE_SIGNAL) != 0;
    a.cfa_is_word = (rule.flags & SFB_RULE_CFA_DEREF) != 0;
    a.cfa_reg = rule.cfa_base == SFB_BASE_SP   ? m->sp
                : rule.cfa_base == SFB_BASE_FP ? m->fp
                                               : rule.cfa_reg;
    a.cfa = rule.cfa_offset;
    a.ra = place_from(&rule.ra);
    a.fp = place_from(&rule.fp);
    return a;
}

static bool same_place(const struct place *a, const struct place *b)
{
    if (a->how != b->how)
        return false;
    return a->how == UNTOUCHED ||
           (a->offset == b->offset && (a->how == IN_FRAME || a->reg == b->reg));
}

bool answer_same(const struct answer *a, const struct answer *b)
{
    if (!a->given || !b->given)
        return a->given == b->given;
    if (a->outermost || b->outermost)
        return a->outermost == b->outermost;
    return a->signal == b->signal && a->cfa_is_word == b->cfa_is_word && a->cfa_reg == b->cfa_reg &&
           a->cfa == b->cfa && same_place(&a->ra, &b->ra) && same_place(&a->fp, &b->fp);
}

static void print_register(const struct machine *m, int reg, int64_t offset)
{
    if (reg == m->sp || reg == m->fp)
        printf("%s%+" PRId64, reg == m->sp ? "sp" : "fp", offset);
    else
        printf("r%d%+" PRId64, reg, offset);
}

static void print_place(const struct machine *m, const char *of, const struct place *p)
{
    if (p->how == UNTOUCHED)
        return;
    printf(" %s ", of);
    if (p->how == IN_FRAME)
        printf("c%+" PRId64, p->offset);
    else
        print_register(m, p->reg, p->offset);
    if (p->how == AT_REGISTER)
        printf(" in memory");
}

void answer_print(const char *name, const struct machine *m, const struct answer *a)
{
    printf("%s ", name);
    if (!a->given || a->outermost) {
        printf("%s", a->given ? "outermost" : "nothing");
        return;
    }
    print_register(m, a->cfa_reg, a->cfa);
    if (a->cfa_is_word)
        printf(" in memory");
    print_place(m, "ra", &a->ra);
    print_place(m, "fp", &a->fp);
    if (a->signal)
        printf(" signal");
    if (a->flags)
        printf(" flags 0x%x", a->flags);
}
