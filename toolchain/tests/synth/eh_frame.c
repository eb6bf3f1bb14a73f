#include "eh_frame.h"

#include <dwarf.h>

enum { REGISTERS = 64, CFA = REGISTERS };

/* --- expressions, with made-up registers ----------------------------------------------------- */

struct value {
    bool known;
    uint64_t n;
};

static uint64_t register_value(unsigned set, uint64_t number)
{
    uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) + set * UINT64_C(0xda942042e4dd58b5);

    return (x ^ x >> 29) & UINT64_C(0x7ffffffffff0);
}

/* Enough of DWARF for CFI; a load, or any other operation, makes the value unknown. */
static struct value evaluate(const Dwarf_Op *ops, size_t count, const struct machine *m,
                             unsigned set, uint64_t pc)
{
    uint64_t stack[32] = { 0 };
    size_t depth = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t a = ops[i].number, b = ops[i].number2;
        const uint8_t op = ops[i].atom;
        uint64_t top = depth > 0 ? stack[depth - 1] : 0, next = depth > 1 ? stack[depth - 2] : 0;

        if (depth > 30)
            return (struct value){ false, 0 };
        if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
            stack[depth++] = op - DW_OP_lit0;
        } else if ((op >= DW_OP_breg0 && op <= DW_OP_breg31) || op == DW_OP_bregx) {
            uint64_t number = op == DW_OP_bregx ? a : (uint64_t)(op - DW_OP_breg0);
            uint64_t offset = op == DW_OP_bregx ? b : a;

            stack[depth++] =
                (number == (uint64_t)m->pc ? pc : register_value(set, number)) + offset;
        } else if (op == DW_OP_call_frame_cfa) {
            stack[depth++] = register_value(set, CFA);
        } else if (op == DW_OP_plus_uconst && depth > 0) {
            stack[depth - 1] = top + a;
        } else if ((op >= DW_OP_const1u && op <= DW_OP_consts)) {
            stack[depth++] = a;
        } else if (depth > 1 && (op == DW_OP_plus || op == DW_OP_minus || op == DW_OP_and ||
                                 op == DW_OP_shl || op == DW_OP_ge)) {
            depth--;
            switch (op) {
            case DW_OP_plus: stack[depth - 1] = next + top; break;
            case DW_OP_minus: stack[depth - 1] = next - top; break;
            case DW_OP_and: stack[depth - 1] = next & top; break;
            case DW_OP_shl: stack[depth - 1] = top < 64 ? next << top : 0; break;
            default: stack[depth - 1] = (int64_t)next >= (int64_t)top; break;
            }
        } else {
            return (struct value){ false, 0 };
        }
    }
    return (struct value){ depth > 0, depth > 0 ? stack[depth - 1] : 0 };
}

/*
 * Finds the register, or the CFA, from which a value differs by a constant. @return false: none, or
 * too far
 */
static bool find_base(int *base, int64_t *offset, const Dwarf_Op *ops, size_t count,
                      const struct machine *m, uint64_t pc)
{
    const struct value a = evaluate(ops, count, m, 0, pc), b = evaluate(ops, count, m, 1, pc);

    if (!a.known || !b.known)
        return false;
    for (*base = 0; *base <= CFA; ++*base) {
        *offset = (int64_t)(a.n - register_value(0, (uint64_t)*base));
        if (*offset == (int64_t)(b.n - register_value(1, (uint64_t)*base)))
            return *offset == (int32_t)*offset;
    }
    return false;
}

static bool mentions_pc(const Dwarf_Op *ops, size_t count, const struct machine *m)
{
    for (size_t i = 0; i < count; i++)
        if ((ops[i].atom == DW_OP_bregx && ops[i].number == (uint64_t)m->pc) ||
            (ops[i].atom >= DW_OP_breg0 && ops[i].atom <= DW_OP_breg31 &&
             ops[i].atom - DW_OP_breg0 == m->pc))
            return true;
    return false;
}

bool eh_frame_varies(Dwarf_Frame *frame, const struct machine *m)
{
    Dwarf_Op *ops;
    size_t count;

    return dwarf_frame_cfa(frame, &ops, &count) == 0 && mentions_pc(ops, count, m);
}

/* --- a row ----------------------------------------------------------------------------------- */

static struct place place_of(Dwarf_Frame *frame, int number, const struct machine *m, uint64_t pc)
{
    Dwarf_Op memory[3], *ops;
    struct place p = { .how = ELSEWHERE };
    bool word = true;
    size_t count;
    int base;

    if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
        return p;
    if (count == 0) {
        p.how = ops == NULL ? UNTOUCHED : UNDEFINED;
        return p;
    }
    if (count == 1 && ops[0].atom == DW_OP_regx)
        return (struct place){ IS_REGISTER, (int)ops[0].number, 0 };
    if (ops[count - 1].atom == DW_OP_stack_value) {
        count--;
        word = ops[count - 1].atom == DW_OP_deref;
        count -= word;
    }
    if (!find_base(&base, &p.offset, ops, count, m, pc))
        return p;
    p.reg = base == CFA ? 0 : base;
    p.how = base == CFA ? (word ? IN_FRAME : IS_CFA) : word ? AT_REGISTER : IS_REGISTER;
    return p;
}

static bool find_cfa(struct answer *out, Dwarf_Frame *frame, const struct machine *m, uint64_t pc)
{
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0)
        return false;
    out->cfa_is_word = ops[count - 1].atom == DW_OP_deref;
    return find_base(&out->cfa_reg, &out->cfa, ops, count - out->cfa_is_word, m, pc) &&
           out->cfa_reg != CFA;
}

/* Versions 1 and 2: sp or fp, offsets from the CFA. */
static bool is_plain(const struct answer *a, const struct machine *m)
{
    if (a->signal || a->cfa_is_word || (a->cfa_reg != m->sp && a->cfa_reg != m->fp) ||
        (a->cfa_reg == m->sp && a->cfa < (m->amd64 ? 8 : 0)) || a->ra.how > IN_FRAME ||
        a->fp.how > IN_FRAME)
        return false;
    return m->amd64 ? a->ra.how == IN_FRAME && a->ra.offset == -8
                    : a->ra.how == IN_FRAME || a->fp.how == UNTOUCHED;
}

/* Version 3. */
static bool is_any(const struct answer *a, const struct machine *m)
{
    const bool pushed = a->ra.how == IN_FRAME && a->ra.offset == (m->amd64 ? -8 : 0);

    if (a->ra.how > IS_REGISTER || a->fp.how > IS_REGISTER || (m->amd64 && a->ra.how == UNTOUCHED))
        return false;
    return a->cfa_is_word || a->cfa_reg != m->sp || a->cfa >= (m->amd64 ? 8 : 0) || !pushed;
}

static bool is_cfa(const struct place *sp, const struct answer *a)
{
    if (sp->how == UNTOUCHED || (sp->how == IS_CFA && sp->offset == 0))
        return true;
    return sp->how == (a->cfa_is_word ? AT_REGISTER : IS_REGISTER) && sp->reg == a->cfa_reg &&
           sp->offset == a->cfa;
}

struct answer eh_frame_answer(Dwarf_Frame *frame, const struct machine *m, unsigned version,
                              uint64_t pc)
{
    struct answer a = { .given = false };
    struct place sp;
    bool signal = false;
    const int column = dwarf_frame_info(frame, NULL, NULL, &signal);

    if (column < 0)
        return a;
    a.signal = signal;
    a.ra = place_of(frame, column, m, pc);
    if (column != m->ra && (a.ra.how == UNTOUCHED || a.ra.how == UNDEFINED))
        a.ra = (struct place){ IS_REGISTER, column, 0 }; /* libdw has no default rule for it */
    a.outermost = a.ra.how == UNDEFINED;
    if (a.outermost) {
        a.given = version == 3;
        return a;
    }
    a.fp = place_of(frame, m->fp, m, pc);
    if (a.fp.how == UNDEFINED)
        a.fp.how = UNTOUCHED;
    sp = place_of(frame, m->sp, m, pc);
    a.given = find_cfa(&a, frame, m, pc) &&
              (version == 3 ? is_cfa(&sp, &a) && is_any(&a, m)
                            : (sp.how == UNTOUCHED || (sp.how == IS_CFA && sp.offset == 0)) &&
                                  is_plain(&a, m));
    return a;
}
