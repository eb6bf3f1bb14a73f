/*
 * A row as libdw gives it, a location expression for each register -> a rule.
 *
 * Expressions are evaluated symbolically: what comes down to one register (or the CFA) and a
 * number, perhaps loaded, perhaps with another number added, is a rule. The pc is a number. That
 * suffices for the linkage tables of x86-64 and for realigned frames.
 */
#include <dwarf.h>
#include <string.h>

#include <sfb/abi.h>

#include "cfi.h"

enum { STACK_MAX = 16, OF_NOTHING = -1, OF_CFA = -2 };

/* base + offset, and if it is loaded: the word there + more. */
struct term {
    int base; /* a register, or one of the above */
    bool loaded, beyond;
    int64_t offset, more;
};

struct machine {
    uint64_t pc;
    int pc_register;
    struct term stack[STACK_MAX];
    size_t depth;
    bool beyond, varies;
};

static const struct term beyond = { .base = OF_NOTHING, .beyond = true };

static void push(struct machine *m, struct term t)
{
    if (m->depth == STACK_MAX)
        m->beyond = true;
    else
        m->stack[m->depth++] = t;
}

static struct term pop(struct machine *m)
{
    if (m->depth > 0)
        return m->stack[--m->depth];
    m->beyond = true;
    return beyond;
}

static struct term number(uint64_t value)
{
    return (struct term){ .base = OF_NOTHING, .offset = (int64_t)value };
}

static struct term plus(struct term t, uint64_t value)
{
    int64_t *to = t.loaded ? &t.more : &t.offset;

    *to = (int64_t)((uint64_t)*to + value);
    return t;
}

static bool is_number(struct term t)
{
    return t.base == OF_NOTHING && !t.loaded && !t.beyond;
}

static void push_register(struct machine *m, uint64_t number_of, uint64_t offset)
{
    if (number_of == (uint64_t)m->pc_register) {
        m->varies = true;
        push(m, number(m->pc + offset));
    } else if (number_of <= UINT8_MAX) {
        push(m, (struct term){ .base = (int)number_of, .offset = (int64_t)offset });
    } else {
        push(m, beyond);
    }
}

static uint64_t compute(unsigned atom, uint64_t a, uint64_t b)
{
    switch (atom) {
    case DW_OP_and: return a & b;
    case DW_OP_or: return a | b;
    case DW_OP_xor: return a ^ b;
    case DW_OP_mul: return a * b;
    case DW_OP_shl: return b < 64 ? a << b : 0;
    case DW_OP_shr: return b < 64 ? a >> b : 0;
    case DW_OP_minus: return a - b;
    case DW_OP_ge: return (int64_t)a >= (int64_t)b;
    case DW_OP_gt: return (int64_t)a > (int64_t)b;
    case DW_OP_le: return (int64_t)a <= (int64_t)b;
    case DW_OP_lt: return (int64_t)a < (int64_t)b;
    case DW_OP_eq: return a == b;
    default: return a != b;
    }
}

static void binary(struct machine *m, unsigned atom)
{
    const struct term b = pop(m), a = pop(m);

    if (a.beyond || b.beyond)
        push(m, beyond);
    else if (atom == DW_OP_plus && (is_number(a) || is_number(b)))
        push(m, is_number(b) ? plus(a, (uint64_t)b.offset) : plus(b, (uint64_t)a.offset));
    else if (atom == DW_OP_minus && is_number(b))
        push(m, plus(a, -(uint64_t)b.offset));
    else if (atom != DW_OP_plus && is_number(a) && is_number(b))
        push(m, number(compute(atom, (uint64_t)a.offset, (uint64_t)b.offset)));
    else
        push(m, beyond);
}

static void load(struct machine *m)
{
    struct term t = pop(m);

    t.beyond |= t.loaded || is_number(t);
    t.loaded = true;
    push(m, t);
}

static void run(struct machine *m, const Dwarf_Op *op)
{
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
        push(m, number(op->atom - DW_OP_lit0));
        return;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        push_register(m, op->atom - DW_OP_breg0, op->number);
        return;
    }
    switch (op->atom) {
    case DW_OP_bregx: push_register(m, op->number, op->number2); break;
    case DW_OP_call_frame_cfa: push(m, (struct term){ .base = OF_CFA }); break;
    case DW_OP_addr:
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts: push(m, number(op->number)); break;
    case DW_OP_plus_uconst: push(m, plus(pop(m), op->number)); break;
    case DW_OP_deref: load(m); break;
    case DW_OP_plus:
    case DW_OP_minus:
    case DW_OP_and:
    case DW_OP_or:
    case DW_OP_xor:
    case DW_OP_mul:
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_ge:
    case DW_OP_gt:
    case DW_OP_le:
    case DW_OP_lt:
    case DW_OP_eq:
    case DW_OP_ne: binary(m, op->atom); break;
    case DW_OP_nop: break;
    default: m->beyond = true; break;
    }
}

static struct term evaluate(struct machine *m, const Dwarf_Op *ops, size_t count)
{
    m->depth = 0;
    m->beyond = false;
    for (size_t i = 0; i < count && !m->beyond; i++)
        run(m, &ops[i]);
    if (m->beyond || m->depth == 0)
        return beyond;
    return m->stack[m->depth - 1];
}

static bool fits(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX;
}

static bool set_cfa(struct sfb_rule *r, struct term t, uint8_t abi)
{
    const struct sfb_abi_registers known = sfb_abi_registers(abi);
    const int sp = known.sp, fp = known.fp;

    if (t.beyond || t.base < 0 || !fits(t.offset) || !fits(t.more))
        return false;
    r->cfa_base = (uint8_t)(t.base == sp ? SFB_BASE_SP : t.base == fp ? SFB_BASE_FP : SFB_BASE_REG);
    if (r->cfa_base == SFB_BASE_REG) {
        r->cfa_reg = (uint8_t)t.base;
        r->flags |= SFB_RULE_ANY_REGISTER;
    }
    r->cfa_offset = (int32_t)t.offset;
    if (t.loaded) {
        r->cfa_add = (int32_t)t.more;
        r->flags |= SFB_RULE_CFA_DEREF | SFB_RULE_ANY_REGISTER;
    }
    return true;
}

/* A value, or where it is saved. */
static bool set_register(struct sfb_saved *out, struct term t, bool is_value)
{
    if (t.beyond || t.base == OF_NOTHING || !fits(t.offset))
        return false;
    if (is_value && t.loaded) { /* the value is a word in memory: saved there */
        if (t.more != 0)
            return false;
        is_value = false;
        t.loaded = false;
    }
    if (t.loaded)
        return false;
    if (t.base == OF_CFA)
        out->where = is_value ? SFB_WHERE_IS_CFA : SFB_WHERE_CFA;
    else
        out->where = is_value ? SFB_WHERE_IS_REG : SFB_WHERE_AT_REG;
    out->reg = t.base >= 0 ? (uint8_t)t.base : 0;
    out->offset = (int32_t)t.offset;
    return true;
}

enum told { TOLD_RULE, TOLD_SAME, TOLD_UNDEFINED, TOLD_BEYOND, TOLD_UNREADABLE };

static enum told read_register(Dwarf_Frame *frame, int number_of, struct machine *m,
                               struct sfb_saved *out)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    bool is_value;

    if (dwarf_frame_register(frame, number_of, memory, &ops, &count) != 0)
        return TOLD_UNREADABLE;
    if (count == 0)
        return ops == memory ? TOLD_UNDEFINED : TOLD_SAME;
    if (count == 1 &&
        (ops[0].atom == DW_OP_regx || (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31))) {
        const uint64_t other =
            ops[0].atom == DW_OP_regx ? ops[0].number : (uint64_t)(ops[0].atom - DW_OP_reg0);

        if (other > UINT8_MAX)
            return TOLD_BEYOND;
        if (other == (uint64_t)number_of)
            return TOLD_SAME;
        out->where = SFB_WHERE_IS_REG;
        out->reg = (uint8_t)other;
        return TOLD_RULE;
    }
    is_value = ops[count - 1].atom == DW_OP_stack_value;
    return set_register(out, evaluate(m, ops, count - is_value), is_value) ? TOLD_RULE
                                                                           : TOLD_BEYOND;
}

static enum cfi_answer beyond_rules(struct cfi_row *out, const char *reason)
{
    out->reason = reason;
    return CFI_BEYOND;
}

static enum cfi_answer unreadable(struct cfi_row *out)
{
    out->reason = dwarf_errmsg(-1);
    return CFI_UNREADABLE;
}

/* Most rows say nothing of sp: it is the CFA. */
static enum told read_sp(Dwarf_Frame *frame, struct sfb_rule *r, struct machine *m, uint8_t abi)
{
    const int sp = sfb_abi_registers(abi).sp;
    const enum told told = read_register(frame, sp, m, &r->sp);

    if (told != TOLD_RULE || (r->sp.where == SFB_WHERE_IS_CFA && r->sp.offset == 0))
        r->sp.where = SFB_WHERE_UNSAVED;
    return told;
}

enum cfi_answer cfi_frame_rule(struct cfi_row *out, Dwarf_Frame *frame, uint64_t pc, uint8_t abi,
                               bool *varies)
{
    const struct sfb_abi_registers known = sfb_abi_registers(abi);
    const int usual_ra = known.ra, fp = known.fp;
    struct machine m = { .pc = pc, .pc_register = known.pc };
    struct sfb_rule *r = &out->rule;
    enum told ra_told, fp_told, sp_told;
    Dwarf_Addr start, end;
    Dwarf_Op *ops;
    size_t count;
    bool signal = false;
    const int ra = dwarf_frame_info(frame, &start, &end, &signal);

    memset(r, 0, sizeof *r);
    *varies = false;
    if (ra < 0 || dwarf_frame_cfa(frame, &ops, &count) != 0)
        return unreadable(out);
    ra_told = read_register(frame, ra, &m, &r->ra);
    fp_told = read_register(frame, fp, &m, &r->fp);
    sp_told = read_sp(frame, r, &m, abi);
    if (ra_told == TOLD_UNREADABLE || fp_told == TOLD_UNREADABLE || sp_told == TOLD_UNREADABLE)
        return unreadable(out);
    if (signal)
        r->flags |= SFB_RULE_SIGNAL;
    if (ra != usual_ra)
        return beyond_rules(out, "the return address has a column of its own");
    if (ra_told == TOLD_UNDEFINED) {
        *r = (struct sfb_rule){ .flags = (uint8_t)(r->flags | SFB_RULE_OUTERMOST) };
        return CFI_RULE;
    }
    if (count == 0 || !set_cfa(r, evaluate(&m, ops, count), abi)) {
        *varies = m.varies;
        return beyond_rules(out, "the CFA is an expression");
    }
    *varies = m.varies;
    if (ra_told == TOLD_BEYOND)
        return beyond_rules(out, "the return address is an expression");
    if (fp_told == TOLD_BEYOND || sp_told == TOLD_BEYOND)
        return beyond_rules(out, "fp or sp is an expression");
    return CFI_RULE;
}
