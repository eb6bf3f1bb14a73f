#include "toolchain/check/frame_state.h"

#include <string.h>

#include <sfb/abi.h>

static const struct value unknown = { 0, VALUE_UNKNOWN, 0 }, other = { 0, VALUE_OTHER, 0 };

struct machine machine_of(uint8_t abi)
{
    const struct sfb_abi_registers r = sfb_abi_registers(abi);

    if (abi == SFB_ABI_AMD64_LE)
        return (struct machine){ r.sp, r.fp, INSN_NO_REGISTER, 8, 8, 0, 56 };
    return (struct machine){ r.sp, r.fp, r.ra, 0, 0, 8, 220 };
}

static struct value entry_of(uint8_t reg)
{
    return (struct value){ 0, VALUE_ENTRY, reg };
}

static struct value cfa_plus(int64_t amount)
{
    return (struct value){ amount, VALUE_CFA, 0 };
}

static bool same(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->amount == b->amount;
}

void state_enter(struct frame_state *s, const struct machine *m)
{
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < INSN_REGISTERS; i++)
        s->reg[i] = entry_of((uint8_t)i);
    s->reg[m->sp] = cfa_plus(-m->entry);
    s->anchored = true;
}

/* ---- from a row ---- */

static struct value *base_of(struct frame_state *s, const struct machine *m,
                             const struct sfb_rule *r)
{
    switch (r->cfa_base) {
    case SFB_BASE_SP: return &s->reg[m->sp];
    case SFB_BASE_FP: return &s->reg[m->fp];
    default: return r->cfa_reg < INSN_REGISTERS ? &s->reg[r->cfa_reg] : NULL;
    }
}

/* A register with its value at entry in the row's place. */
static void place_saved(struct frame_state *s, const struct machine *m, uint8_t reg,
                        const struct sfb_saved *saved, int64_t key)
{
    const struct value v = { key, VALUE_ENTRY, reg };

    if (saved->where == SFB_WHERE_UNSAVED && s->reg[reg].kind == VALUE_UNKNOWN)
        s->reg[reg] = v;
    else if (saved->where == SFB_WHERE_CFA)
        state_remember(s, m, saved->offset, &v);
    else if (saved->where == SFB_WHERE_IS_REG && saved->offset == 0 && saved->reg < INSN_REGISTERS)
        s->reg[saved->reg] = v;
}

void state_from_row(struct frame_state *s, const struct machine *m, const struct sfb_rule *rule)
{
    const int64_t key = (rule->flags & SFB_RULE_RA_SIGNED) == 0 ? 0
                        : (rule->flags & SFB_RULE_RA_KEY_B)     ? 2
                                                                : 1;
    struct value *base;

    memset(s, 0, sizeof *s);
    s->forgot = true; /* other words of the frame are unknown */
    if (rule->flags & (SFB_RULE_OUTERMOST | SFB_RULE_CFA_DEREF))
        return;
    base = base_of(s, m, rule);
    if (base)
        *base = cfa_plus(-(int64_t)rule->cfa_offset);
    place_saved(s, m, m->fp, &rule->fp, 0);
    if (m->lr != INSN_NO_REGISTER)
        place_saved(s, m, m->lr, &rule->ra, key);
}

/* ---- merging two paths ---- */

static struct value meet(const struct value *a, const struct value *b)
{
    if (same(a, b))
        return *a;
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN || a->kind == VALUE_ENTRY ||
        b->kind == VALUE_ENTRY)
        return unknown;
    return other;
}

static bool meet_slots(struct frame_state *s, const struct frame_state *o)
{
    bool changed = false;

    for (unsigned i = s->slots; i-- > 0;) {
        const struct value theirs = state_slot(o, s->slot[i].at);

        if (same(&s->slot[i].value, &theirs) || s->slot[i].value.kind == VALUE_UNKNOWN)
            continue;
        s->slot[i].value = unknown;
        changed = true;
    }
    for (unsigned i = 0; i < o->slots; i++) {
        bool there = s->forgot;

        for (unsigned k = 0; k < s->slots; k++)
            there |= s->slot[k].at == o->slot[i].at;
        if (there)
            continue;
        if (s->slots == STATE_SLOTS)
            s->forgot = true;
        else
            s->slot[s->slots++] = (struct slot){ o->slot[i].at, unknown };
        changed = true;
    }
    changed |= o->forgot && !s->forgot;
    s->forgot |= o->forgot;
    return changed;
}

bool state_meet(struct frame_state *s, const struct frame_state *o)
{
    bool changed = meet_slots(s, o);

    for (unsigned i = 0; i < INSN_REGISTERS; i++) {
        const struct value v = meet(&s->reg[i], &o->reg[i]);

        changed |= !same(&v, &s->reg[i]);
        s->reg[i] = v;
    }
    changed |= (s->anchored && !o->anchored) || (o->switched && !s->switched);
    s->switched |= o->switched;
    s->anchored &= o->anchored;
    return changed;
}

void state_forget(struct frame_state *s, const struct machine *m)
{
    for (unsigned i = 0; i < INSN_REGISTERS; i++)
        if (i != m->sp && i != m->fp)
            s->reg[i] = unknown;
}

bool state_height(const struct frame_state *s, uint8_t reg, int64_t *out)
{
    if (reg >= INSN_REGISTERS || s->reg[reg].kind != VALUE_CFA)
        return false;
    *out = -s->reg[reg].amount;
    return true;
}
