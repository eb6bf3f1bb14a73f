#include "toolchain/check/cfi_marks.h"

#include <dwarf.h>
#include <stdbool.h>

#include <sfb/abi.h>

#include "toolchain/check/cfi_bounds.h"

struct program {
    const uint8_t *at, *end;
    const struct sfb_cfi_fde *fde;
    struct sfb_abi_registers registers;
    uint64_t advanced;
    unsigned remembered, marks;
    bool any_here, cfa_here; /* a directive, or a definition of the CFA, since the last advance */
    bool fp, ra;             /* are saved */
};

static uint64_t number(struct program *p)
{
    uint64_t value = 0;

    for (unsigned i = 0; p->at < p->end; i++) {
        const uint8_t byte = *p->at++;

        if (i < 10)
            value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if ((byte & 0x80) == 0)
            break;
    }
    return value;
}

static uint64_t bytes(struct program *p, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size && p->at < p->end; i++)
        value |= (uint64_t)*p->at++ << 8 * i;
    return value;
}

static void skip_expression(struct program *p)
{
    const uint64_t size = number(p), left = (uint64_t)(p->end - p->at);

    p->at += size < left ? size : left;
    p->marks |= CFI_EXPRESSION;
}

static void advance(struct program *p, uint64_t by)
{
    p->advanced += by * p->fde->code_align;
    p->any_here = p->cfa_here = false;
}

static void save(struct program *p, uint64_t reg)
{
    if (reg == p->fde->ra_column) {
        p->marks |= CFI_RA_OFFSET;
        p->ra = true;
    }
    p->fp |= reg == p->registers.fp;
}

static void note_cfa(struct program *p)
{
    if (p->cfa_here)
        p->marks |= CFI_NO_ADVANCE;
    p->cfa_here = true;
}

static void define_cfa(struct program *p, uint64_t reg)
{
    note_cfa(p);
    if (reg != p->registers.sp && reg != p->registers.fp)
        p->marks |= CFI_OTHER_CFA;
}

static void remember(struct program *p)
{
    if (p->remembered++ > 0)
        p->marks |= CFI_NESTED;
    if (p->any_here)
        p->marks |= CFI_REMEMBER_LATE;
}

/* @return false: unknown operands */
static bool apply(struct program *p, uint8_t opcode)
{
    uint64_t reg;

    switch (opcode) {
    case DW_CFA_nop: return true;
    case DW_CFA_advance_loc1: advance(p, bytes(p, 1)); return true;
    case DW_CFA_advance_loc2: advance(p, bytes(p, 2)); return true;
    case DW_CFA_advance_loc4: advance(p, bytes(p, 4)); return true;
    case DW_CFA_remember_state: remember(p); return true;
    case DW_CFA_restore_state: p->remembered -= p->remembered > 0; break;
    case DW_CFA_GNU_args_size:
        number(p);
        p->marks |= CFI_ARGS_SIZE;
        break;
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
        define_cfa(p, number(p));
        number(p);
        break;
    case DW_CFA_def_cfa_register: define_cfa(p, number(p)); break;
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
        note_cfa(p);
        number(p);
        break;
    case DW_CFA_restore_extended: number(p); break;
    case DW_CFA_undefined:
        if (number(p) == p->fde->ra_column)
            p->marks |= CFI_RA_UNDEFINED;
        break;
    case DW_CFA_same_value:
        if (number(p) == p->registers.fp)
            p->marks |= CFI_FP_SAME;
        break;
    case DW_CFA_register:
        reg = number(p);
        number(p);
        if (reg == p->fde->ra_column)
            p->marks |= CFI_RA_REGISTER;
        break;
    case DW_CFA_offset_extended:
    case DW_CFA_offset_extended_sf:
        save(p, number(p));
        number(p);
        break;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
        number(p);
        skip_expression(p);
        break;
    case DW_CFA_def_cfa_expression: skip_expression(p); break;
    case DW_CFA_GNU_window_save: break;
    default: return false;
    }
    p->any_here = true;
    return true;
}

static bool run(struct program *p)
{
    while (p->at < p->end) {
        const uint8_t opcode = *p->at++;

        if ((opcode & 0xc0) == DW_CFA_advance_loc) {
            advance(p, opcode & 0x3f);
        } else if ((opcode & 0xc0) == DW_CFA_offset) {
            save(p, opcode & 0x3f);
            number(p);
            p->any_here = true;
        } else if (opcode >= DW_CFA_advance_loc) {
            p->any_here = true;
        } else if (!apply(p, opcode)) {
            return false;
        }
        if (p->any_here && p->advanced >= p->fde->end - p->fde->start)
            p->marks |= CFI_PAST_END;
    }
    return true;
}

unsigned cfi_marks(const uint8_t *section, const struct sfb_cfi_fde *fde, uint8_t abi)
{
    struct program p = { .at = section + fde->initial,
                         .end = section + fde->initial_end,
                         .fde = fde,
                         .registers = sfb_abi_registers(abi) };

    /* as moves directives at the start of the function into a CIE. */
    if (!run(&p))
        return 0;
    p = (struct program){ .at = section + fde->program,
                          .end = section + fde->program_end,
                          .fde = fde,
                          .registers = p.registers,
                          .marks = p.marks & (CFI_RA_UNDEFINED | CFI_FP_SAME) };
    if (!run(&p))
        return 0;
    if (p.fp && !p.ra && p.registers.fixed_ra == 0)
        p.marks |= CFI_FP_ALONE;
    p.marks |= CFI_SIMPLE;
    for (uint32_t i = fde->initial; i < fde->initial_end; i++)
        if (section[i] != DW_CFA_nop)
            p.marks &= ~(unsigned)CFI_SIMPLE;
    return p.marks;
}
