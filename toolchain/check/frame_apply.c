/* The effect of an instruction on the state. */
#include "toolchain/check/frame_slots.h"
#include "toolchain/check/frame_state.h"

/* The number of clone3(), the same on all machines. */
enum { CLONE3 = 435 };

static const struct value unknown = { 0, VALUE_UNKNOWN, 0 }, other = { 0, VALUE_OTHER, 0 };

static void put(struct frame_state *s, uint8_t reg, struct value v)
{
    if (reg < INSN_REGISTERS)
        s->reg[reg] = v;
}

static struct value sum(struct value v, int64_t amount)
{
    if (v.kind == VALUE_UNKNOWN || (amount == 0 && v.kind == VALUE_ENTRY))
        return v;
    if (v.kind != VALUE_CFA && v.kind != VALUE_NUMBER)
        return other;
    /* No frame is that large. */
    if (v.amount > INT32_MAX || v.amount < INT32_MIN || amount > INT32_MAX || amount < INT32_MIN)
        return other;
    v.amount += amount;
    return v;
}

static struct value value_of(const struct frame_state *s, uint8_t reg)
{
    return reg < INSN_REGISTERS ? s->reg[reg] : other;
}

static void add_register(struct frame_state *s, const struct insn *i)
{
    const struct value by = value_of(s, i->reg[1]);

    if (by.kind == VALUE_NUMBER && by.amount <= INT32_MAX && by.amount >= INT32_MIN)
        put(s, i->reg[0], sum(value_of(s, i->base), by.amount * i->amount));
    else
        put(s, i->reg[0], unknown);
}

static void insert(struct frame_state *s, const struct insn *i)
{
    struct value v = value_of(s, i->reg[0]);

    if (v.kind == VALUE_NUMBER && i->before >= 0 && i->before < 64)
        v.amount = (int64_t)(((uint64_t)v.amount & ~(UINT64_C(0xffff) << i->before)) |
                             (uint64_t)i->amount << i->before);
    else
        v = other;
    put(s, i->reg[0], v);
}

static void store(struct frame_state *s, const struct machine *m, const struct insn *i)
{
    struct value v[2] = { value_of(s, i->reg[0]), value_of(s, i->reg[1]) };
    const struct value base = sum(value_of(s, i->base), i->before);

    put(s, i->base, sum(base, i->after));
    if (base.kind != VALUE_CFA)
        return; /* through a pointer: not over saved registers */
    for (unsigned k = 0; k < i->words; k++) {
        const int64_t at = base.amount + i->amount + (int64_t)k * i->bytes;

        state_overwrite(s, at, i->bytes);
        if (i->bytes == 8 && i->reg[k] < INSN_REGISTERS)
            state_remember(s, m, at, &v[k]);
    }
}

static void load(struct frame_state *s, const struct insn *i)
{
    const struct value base = sum(value_of(s, i->base), i->before);

    put(s, i->base, sum(base, i->after));
    for (unsigned k = 0; k < i->words; k++) {
        struct value v = unknown;

        if (base.kind == VALUE_CFA && i->bytes == 8)
            v = state_slot(s, base.amount + i->amount + (int64_t)k * 8);
        else if (base.kind == VALUE_CFA)
            v = other;
        put(s, i->reg[k], v.kind == VALUE_OTHER ? unknown : v);
    }
}

static void swap(struct frame_state *s, const struct insn *i)
{
    const struct value first = value_of(s, i->reg[0]), second = value_of(s, i->reg[1]);

    put(s, i->reg[0], second);
    put(s, i->reg[1], first);
}

static void enter(struct frame_state *s, const struct machine *m, int64_t amount)
{
    const struct insn push = {
        .reg = { m->fp, INSN_NO_REGISTER }, .base = m->sp, .before = -8, .bytes = 8, .words = 1
    };

    store(s, m, &push);
    s->reg[m->fp] = s->reg[m->sp];
    s->reg[m->sp] = sum(s->reg[m->sp], -amount);
}

static void leave(struct frame_state *s, const struct machine *m)
{
    const struct value fp = s->reg[m->fp];

    s->reg[m->sp] = sum(fp, m->word);
    s->reg[m->fp] = fp.kind == VALUE_CFA ? state_slot(s, fp.amount) : unknown;
    if (s->reg[m->sp].kind == VALUE_OTHER || s->reg[m->sp].kind == VALUE_ENTRY)
        s->reg[m->sp] = unknown;
    if (s->reg[m->fp].kind == VALUE_OTHER)
        s->reg[m->fp] = unknown;
}

static void sign(struct frame_state *s, const struct machine *m, int64_t key)
{
    struct value *lr = m->lr < INSN_REGISTERS ? &s->reg[m->lr] : NULL;

    if (lr && lr->kind == VALUE_ENTRY)
        lr->amount = key;
}

/*
 * Whether sp may be on another stack afterwards: it was loaded, or clone() returns here in the
 * child.
 */
static bool switches(const struct frame_state *s, const struct machine *m, const struct insn *i)
{
    if (i->enters)
        return s->reg[m->call].kind == VALUE_NUMBER &&
               (s->reg[m->call].amount == m->clone || s->reg[m->call].amount == CLONE3);
    if (i->what == WHAT_LOAD)
        return i->reg[0] == m->sp;
    return i->what == WHAT_SET && i->reg[0] == m->sp && i->base != m->sp && i->base != m->fp &&
           value_of(s, i->base).kind != VALUE_CFA;
}

void state_apply(struct frame_state *s, const struct machine *m, const struct insn *insn)
{
    s->switched |= switches(s, m, insn);
    switch ((enum insn_what)insn->what) {
    case WHAT_NOTHING:
    case WHAT_COMPARE: break;
    case WHAT_SET: put(s, insn->reg[0], sum(value_of(s, insn->base), insn->amount)); break;
    case WHAT_ADD: add_register(s, insn); break;
    case WHAT_CONSTANT:
        put(s, insn->reg[0], (struct value){ insn->amount, VALUE_NUMBER, 0 });
        break;
    case WHAT_INSERT: insert(s, insn); break;
    case WHAT_STORE: store(s, m, insn); break;
    case WHAT_LOAD: load(s, insn); break;
    case WHAT_SWAP: swap(s, insn); break;
    case WHAT_LEAVE: leave(s, m); break;
    case WHAT_ENTER: enter(s, m, insn->amount); break;
    case WHAT_SIGN: sign(s, m, insn->amount); break;
    case WHAT_UNSIGN: sign(s, m, 0); break;
    }
    for (uint8_t i = 0; insn->kills != 0 && i < INSN_REGISTERS; i++)
        if (insn->kills >> i & 1)
            s->reg[i] = other;
    if (insn->flow == FLOW_CALL && s->reg[m->sp].kind == VALUE_CFA)
        state_forget_below(s, s->reg[m->sp].amount);
    if (insn->flow == FLOW_CALL)
        state_forget_addresses(s);
    /* sp stays a stack address: after any other change it is unknown, not untracked. */
    if (s->switched || s->reg[m->sp].kind != VALUE_CFA)
        s->reg[m->sp] = unknown;
}

bool state_equate(struct frame_state *s, const struct machine *m, const struct insn *compared)
{
    const uint8_t a = compared->reg[0], b = compared->reg[1];

    if (a >= INSN_REGISTERS || b >= INSN_REGISTERS || s->switched)
        return true;
    if (s->reg[a].kind == VALUE_CFA && s->reg[b].kind != VALUE_CFA && b == m->sp)
        s->reg[b] = s->reg[a];
    else if (s->reg[b].kind == VALUE_CFA && s->reg[a].kind != VALUE_CFA && a == m->sp)
        s->reg[a] = s->reg[b];
    return s->reg[a].kind != VALUE_CFA || s->reg[b].kind != VALUE_CFA ||
           s->reg[a].amount == s->reg[b].amount;
}
