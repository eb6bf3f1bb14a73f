/*
 * Expressions in CFI are few and small:
 *
 *     PLT of x86-64   breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
 *     DRAP, CFA       breg6 -8; deref
 *     DRAP, fp        breg6 0
 *     assembly        breg7 40; deref; plus_uconst 8
 *
 * The pc is known at a lookup. So all of these reduce to a term: a register or the CFA, plus a number,
 * perhaps one load, plus another number. Others are not expressible: two registers, or a load of a load
 * (one function in OpenSSL). Numbers are computed modulo 2^64.
 */
#include "eh_frame/expression.h"

#include "base/leb128.h"
#include "eh_frame/format.h"
#include "eh_frame/window.h"

enum { DEPTH = 6, OPERATIONS_MAX = 64 }; /* the PLT needs 3 */

struct stack {
    struct sfb_term term[DEPTH];
    unsigned depth;
    bool bad; /* it ran past an end, or an operand is not a number */
    bool reads_pc;
};

static struct sfb_term number(uint64_t value)
{
    return (struct sfb_term){ .base = SFB_TERM_NUMBER, .inner = (int64_t)value };
}

static void push(struct stack *s, struct sfb_term term)
{
    if (s->depth == DEPTH)
        s->bad = true;
    else
        s->term[s->depth++] = term;
}

static struct sfb_term pop(struct stack *s)
{
    if (s->depth == 0) {
        s->bad = true;
        return number(0);
    }
    return s->term[--s->depth];
}

static uint64_t pop_number(struct stack *s)
{
    struct sfb_term t = pop(s);

    s->bad |= t.base != SFB_TERM_NUMBER;
    return (uint64_t)t.inner;
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void push_sum(struct stack *s, struct sfb_term term, uint64_t n)
{
    int64_t total = sum(term.deref ? term.outer : term.inner, (int64_t)n);

    if (!term.deref) {
        term.inner = total;
    } else {
        s->bad |= total != (int32_t)total;
        term.outer = (int32_t)total;
    }
    push(s, term);
}

static void plus(struct stack *s)
{
    struct sfb_term b = pop(s), a = pop(s);

    if (a.base == SFB_TERM_NUMBER)
        push_sum(s, b, (uint64_t)a.inner);
    else if (b.base == SFB_TERM_NUMBER)
        push_sum(s, a, (uint64_t)b.inner);
    else
        s->bad = true;
}

static void deref(struct stack *s)
{
    struct sfb_term t = pop(s);

    if (t.deref || t.base == SFB_TERM_NUMBER)
        s->bad = true;
    t.deref = true;
    push(s, t);
}

/* Computes an operation on two numbers; a is the lower on the stack. */
static uint64_t fold(uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_MUL: return a * b;
    case OP_SHL: return b < 64 ? a << b : 0;
    case OP_SHR: return b < 64 ? a >> b : 0;
    case OP_SHRA: return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_GE: return (int64_t)a >= (int64_t)b;
    case OP_GT: return (int64_t)a > (int64_t)b;
    case OP_LE: return (int64_t)a <= (int64_t)b;
    default: return (int64_t)a < (int64_t)b;
    }
}

static void push_register(struct stack *s, const struct sfb_eh_frame *eh, uint64_t reg, int64_t n,
                          uint64_t pc)
{
    if (reg == sfb_abi_registers(eh->abi).pc) {
        s->reads_pc = true;
        push(s, number(pc + (uint64_t)n));
    } else if (reg < UINT8_MAX) {
        push(s, (struct sfb_term){ .base = SFB_TERM_REG, .reg = (uint8_t)reg, .inner = n });
    } else {
        s->bad = true;
    }
}

static void binary(struct stack *s, uint8_t op)
{
    uint64_t b = pop_number(s), a = pop_number(s);

    push(s, number(fold(op, a, b)));
}

static void shuffle(struct stack *s, uint8_t op)
{
    struct sfb_term top = pop(s), next;

    if (op == OP_DROP)
        return;
    if (op == OP_DUP) {
        push(s, top);
        push(s, top);
        return;
    }
    next = pop(s);
    push(s, op == OP_SWAP ? top : next);
    push(s, op == OP_SWAP ? next : top);
    if (op == OP_OVER)
        push(s, next);
}

static void operate(struct stack *s, const struct sfb_eh_frame *eh, struct sfb_reader *r,
                    uint64_t pc)
{
    uint8_t op = sfb_reader_u8(r);
    uint64_t reg, value;

    if (op >= OP_LIT0 && op <= OP_LIT31) {
        push(s, number(op - OP_LIT0));
        return;
    }
    if (op >= OP_BREG0 && op <= OP_BREG31) {
        push_register(s, eh, op - OP_BREG0, sfb_reader_sleb(r), pc);
        return;
    }
    switch (op) {
    case OP_BREGX:
        reg = sfb_reader_uleb(r);
        push_register(s, eh, reg, sfb_reader_sleb(r), pc);
        break;
    case OP_ADDR:
    case OP_CONST8U:
    case OP_CONST8S: push(s, number(sfb_reader_u64(r))); break;
    case OP_CONST1U: push(s, number(sfb_reader_u8(r))); break;
    case OP_CONST1S: push(s, number((uint64_t)(int64_t)(int8_t)sfb_reader_u8(r))); break;
    case OP_CONST2U: push(s, number(sfb_reader_u16(r))); break;
    case OP_CONST2S: push(s, number((uint64_t)(int64_t)(int16_t)sfb_reader_u16(r))); break;
    case OP_CONST4U: push(s, number(sfb_reader_u32(r))); break;
    case OP_CONST4S: push(s, number((uint64_t)(int64_t)(int32_t)sfb_reader_u32(r))); break;
    case OP_CONSTU: push(s, number(sfb_reader_uleb(r))); break;
    case OP_CONSTS: push(s, number((uint64_t)sfb_reader_sleb(r))); break;
    case OP_PLUS_UCONST:
        value = sfb_reader_uleb(r);
        push_sum(s, pop(s), value);
        break;
    case OP_PLUS: plus(s); break;
    case OP_MINUS:
        value = pop_number(s);
        push_sum(s, pop(s), -value);
        break;
    case OP_NEG: push(s, number(-pop_number(s))); break;
    case OP_NOT: push(s, number(~pop_number(s))); break;
    case OP_DEREF: deref(s); break;
    case OP_DUP:
    case OP_DROP:
    case OP_OVER:
    case OP_SWAP: shuffle(s, op); break;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_MUL:
    case OP_SHL:
    case OP_SHR:
    case OP_SHRA:
    case OP_EQ:
    case OP_NE:
    case OP_GE:
    case OP_GT:
    case OP_LE:
    case OP_LT: binary(s, op); break;
    case OP_NOP: break;
    default: s->bad = true; break;
    }
}

static struct sfb_reader block_at(const struct sfb_eh_frame *eh, uint32_t offset)
{
    struct sfb_reader r = sfb_eh_window(eh, offset, eh->size);
    uint64_t length = sfb_reader_uleb(&r);

    r.failed |= length > r.left;
    if (!r.failed)
        r.left = (size_t)length;
    return r;
}

enum sfb_status sfb_expression_term(struct sfb_term *out, const struct sfb_eh_frame *eh,
                                    uint32_t offset, uint64_t pc, bool with_cfa)
{
    struct sfb_reader r = block_at(eh, offset);
    struct stack s = { .depth = 0, .bad = false };

    if (r.failed)
        return SFB_BAD_CFI;
    if (with_cfa)
        push(&s, (struct sfb_term){ .base = SFB_TERM_CFA });
    for (unsigned i = 0; r.left > 0; i++) {
        operate(&s, eh, &r, pc);
        if (r.failed)
            return SFB_BAD_CFI;
        if (s.bad || i == OPERATIONS_MAX)
            return SFB_NOT_EXPRESSIBLE;
    }
    if (s.depth == 0)
        return SFB_BAD_CFI;
    *out = s.term[s.depth - 1];
    return SFB_OK;
}

bool sfb_expression_reads_pc(const struct sfb_eh_frame *eh, uint32_t offset)
{
    struct sfb_reader r = block_at(eh, offset);
    struct stack s = { .depth = 0, .bad = false };

    for (unsigned i = 0; r.left > 0 && !r.failed && i < OPERATIONS_MAX; i++)
        operate(&s, eh, &r, 0);
    return s.reads_pc;
}
