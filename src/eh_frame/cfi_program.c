#include "eh_frame/cfi_program.h"

#include <string.h>

#include "base/leb128.h"
#include "eh_frame/format.h"
#include "eh_frame/pointer.h"
#include "eh_frame/window.h"

enum { NO_COLUMN = UINT8_MAX };

unsigned sfb_cfi_column(const struct sfb_eh_frame *eh, const struct sfb_cfi_fde *fde, uint64_t reg)
{
    const struct sfb_abi_registers known = sfb_abi_registers(eh->abi);

    if (reg == fde->ra_column)
        return SFB_CFI_RA;
    if (reg == known.fp)
        return SFB_CFI_FP;
    if (reg == known.sp)
        return SFB_CFI_SP;
    if (reg == known.saved_one && reg != SFB_ABI_NO_REGISTER)
        return SFB_CFI_RULE_COLUMNS;
    if (reg < known.saved_first || reg > known.saved_last)
        return NO_COLUMN;
    return SFB_CFI_RULE_COLUMNS + (known.saved_one != SFB_ABI_NO_REGISTER ? 1u : 0u) +
           (unsigned)reg - known.saved_first;
}

static void set_cell(struct sfb_cfi_machine *m, uint64_t reg, enum sfb_cfi_how how, int64_t offset,
                     uint64_t from)
{
    unsigned column = sfb_cfi_column(m->eh, m->fde, reg);

    m->eh_return |= how == SFB_CFI_OFFSET && reg <= sfb_abi_registers(m->eh->abi).eh_return_last;
    if (column >= m->columns)
        return;
    if (offset != (int32_t)offset)
        how = SFB_CFI_TOO_FAR;
    m->cell[column] = (struct sfb_cfi_cell){
        .how = (uint8_t)how,
        .reg = from < UINT8_MAX ? (uint8_t)from : UINT8_MAX,
        .offset = (int32_t)offset,
    };
}

static void restore(struct sfb_cfi_machine *m, uint64_t reg)
{
    unsigned column = sfb_cfi_column(m->eh, m->fde, reg);

    if (column < m->columns)
        m->cell[column] = m->cell[m->columns + column]; /* as the CIE left it */
}

static void set_cfa_register(struct sfb_cfi_machine *m, uint64_t reg)
{
    m->row.cfa_reg = reg < UINT8_MAX ? (uint8_t)reg : UINT8_MAX;
    /* Behind an expression the offset is that of before: libgcc's reading; DWARF forbids it. */
    m->row.cfa_by_expression = false;
}

static void set_cfa_offset(struct sfb_cfi_machine *m, int64_t offset)
{
    m->row.cfa_offset = (int32_t)offset;
    m->row.cfa_too_far = offset != (int32_t)offset;
}

/* A factored offset. A product that wraps is caught as too far. */
static int64_t factored(const struct sfb_cfi_machine *m, int64_t n)
{
    int64_t product;

    return __builtin_mul_overflow(n, (int64_t)m->fde->data_align, &product) ? INT64_MAX : product;
}

static int64_t factored_unsigned(const struct sfb_cfi_machine *m, uint64_t n)
{
    return n > INT64_MAX ? INT64_MAX : factored(m, (int64_t)n);
}

static int64_t unfactored(uint64_t n)
{
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* Skips an expression, and gives its place. */
static uint32_t block(struct sfb_cfi_machine *m)
{
    uint32_t at = sfb_eh_offset(m->eh, &m->program);

    sfb_reader_skip(&m->program, sfb_reader_uleb(&m->program));
    return at;
}

/* @return the cells of the row remembered last */
static struct sfb_cfi_cell *remembered_cells(const struct sfb_cfi_machine *m)
{
    return m->cell + (1u + m->remembered) * m->columns;
}

static bool remember(struct sfb_cfi_machine *m)
{
    if (m->remembered == SFB_CFI_REMEMBER_MAX)
        return false;
    m->remembered_row[m->remembered] = m->row;
    m->remembered++;
    memcpy(remembered_cells(m), m->cell, m->columns * sizeof *m->cell);
    return true;
}

static bool recall(struct sfb_cfi_machine *m)
{
    if (m->remembered == 0)
        return false;
    memcpy(m->cell, remembered_cells(m), m->columns * sizeof *m->cell);
    m->remembered--;
    m->row = m->remembered_row[m->remembered];
    return true;
}

/* Runs an instruction that changes the row. @return false: unknown instruction */
static bool change(struct sfb_cfi_machine *m, uint8_t op)
{
    struct sfb_reader *r = &m->program;
    uint64_t reg, n;
    uint32_t at;

    switch (op) {
    case CFA_NOP: return true;
    case CFA_OFFSET_EXTENDED:
        reg = sfb_reader_uleb(r);
        n = sfb_reader_uleb(r);
        set_cell(m, reg, SFB_CFI_OFFSET, factored_unsigned(m, n), 0);
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        reg = sfb_reader_uleb(r);
        set_cell(m, reg, SFB_CFI_OFFSET, factored(m, sfb_reader_sleb(r)), 0);
        return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        reg = sfb_reader_uleb(r);
        n = sfb_reader_uleb(r);
        set_cell(m, reg, SFB_CFI_OFFSET, -factored_unsigned(m, n), 0);
        return true;
    case CFA_VAL_OFFSET:
        reg = sfb_reader_uleb(r);
        n = sfb_reader_uleb(r);
        set_cell(m, reg, SFB_CFI_VAL_OFFSET, factored_unsigned(m, n), 0);
        return true;
    case CFA_VAL_OFFSET_SF:
        reg = sfb_reader_uleb(r);
        set_cell(m, reg, SFB_CFI_VAL_OFFSET, factored(m, sfb_reader_sleb(r)), 0);
        return true;
    case CFA_RESTORE_EXTENDED: restore(m, sfb_reader_uleb(r)); return true;
    case CFA_UNDEFINED: set_cell(m, sfb_reader_uleb(r), SFB_CFI_UNDEFINED, 0, 0); return true;
    case CFA_SAME_VALUE: set_cell(m, sfb_reader_uleb(r), SFB_CFI_SAME, 0, 0); return true;
    case CFA_REGISTER:
        reg = sfb_reader_uleb(r);
        n = sfb_reader_uleb(r);
        m->odd_register |= n > sfb_abi_registers(m->eh->abi).pc;
        set_cell(m, reg, SFB_CFI_REGISTER, 0, n);
        return true;
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION:
        reg = sfb_reader_uleb(r);
        at = block(m);
        set_cell(m, reg, op == CFA_EXPRESSION ? SFB_CFI_EXPRESSION : SFB_CFI_VAL_EXPRESSION, at, 0);
        return true;
    case CFA_REMEMBER_STATE: return remember(m);
    case CFA_RESTORE_STATE: return recall(m);
    case CFA_DEF_CFA:
        set_cfa_register(m, sfb_reader_uleb(r));
        set_cfa_offset(m, unfactored(sfb_reader_uleb(r)));
        return true;
    case CFA_DEF_CFA_SF:
        set_cfa_register(m, sfb_reader_uleb(r));
        set_cfa_offset(m, factored(m, sfb_reader_sleb(r)));
        return true;
    case CFA_DEF_CFA_REGISTER: set_cfa_register(m, sfb_reader_uleb(r)); return true;
    case CFA_DEF_CFA_OFFSET: set_cfa_offset(m, unfactored(sfb_reader_uleb(r))); return true;
    case CFA_DEF_CFA_OFFSET_SF: set_cfa_offset(m, factored(m, sfb_reader_sleb(r))); return true;
    case CFA_DEF_CFA_EXPRESSION:
        m->row.cfa_expression = block(m);
        m->row.cfa_by_expression = true;
        return true;
    case CFA_GNU_ARGS_SIZE: sfb_reader_uleb(r); return true;
    case CFA_GNU_WINDOW_SAVE:
        m->row.ra_signed = !m->row.ra_signed;
        return m->eh->abi != SFB_ABI_AMD64_LE;
    case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
        m->row.ra_signed = !m->row.ra_signed;
        return m->eh->abi != SFB_ABI_AMD64_LE;
    default: return false;
    }
}

/* Runs an instruction that advances the location. @return false: another instruction */
static bool advance(struct sfb_cfi_machine *m, uint8_t op, uint64_t *location)
{
    struct sfb_reader *r = &m->program;
    uint64_t delta;

    switch (op) {
    case CFA_SET_LOC: return sfb_eh_pointer(m->eh, r, m->fde->encoding, location);
    case CFA_ADVANCE_LOC1: delta = sfb_reader_u8(r); break;
    case CFA_ADVANCE_LOC2: delta = sfb_reader_u16(r); break;
    case CFA_ADVANCE_LOC4: delta = sfb_reader_u32(r); break;
    case CFA_MIPS_ADVANCE_LOC8:
        delta = sfb_reader_u64(r);
        r->failed |= delta > UINT32_MAX; /* no function is so large, and no product wraps */
        break;
    default:
        if ((op & 0xc0) != CFA_ADVANCE_LOC)
            return false;
        delta = op & 0x3f;
    }
    *location = m->end + delta * m->fde->code_align;
    return true;
}

/*
 * Runs to the next location or to the end of the instructions.
 *
 * @param location  written: start of the next row; unchanged at the end of the instructions
 */
static enum sfb_status run(struct sfb_cfi_machine *m, uint64_t *location)
{
    struct sfb_reader *r = &m->program;

    while (r->left > 0) {
        uint8_t op = sfb_reader_u8(r);
        bool good = true;

        if (advance(m, op, location))
            return r->failed ? SFB_BAD_CFI : SFB_OK;
        switch (op & 0xc0) {
        case CFA_OFFSET:
            set_cell(m, op & 0x3f, SFB_CFI_OFFSET, factored_unsigned(m, sfb_reader_uleb(r)), 0);
            break;
        case CFA_RESTORE: restore(m, op & 0x3f); break;
        default: good = change(m, op); break;
        }
        if (!good || r->failed)
            return SFB_BAD_CFI;
    }
    return SFB_OK;
}

enum sfb_status sfb_cfi_machine_init(struct sfb_cfi_machine *out, const struct sfb_eh_frame *eh,
                                     const struct sfb_cfi_fde *fde, unsigned columns,
                                     struct sfb_cfi_cell *cells)
{
    uint64_t location = 0;
    enum sfb_status status;

    out->eh = eh;
    out->fde = fde;
    out->columns = (uint8_t)columns;
    out->remembered = 0;
    out->odd_register = false;
    out->eh_return = false;
    out->cell = cells;
    out->row = (struct sfb_cfi_row){ .cfa_reg = UINT8_MAX };
    out->start = out->end = fde->start;
    memset(cells, 0, 2 * columns * sizeof *cells);
    out->program = sfb_eh_window(eh, fde->initial, fde->initial_end);
    status = out->program.failed ? SFB_BAD_CFI : run(out, &location);
    if (status != SFB_OK || out->program.left > 0) /* a CIE must not advance the location */
        return SFB_BAD_CFI;
    memcpy(cells + columns, cells, columns * sizeof *cells);
    out->program = sfb_eh_window(eh, fde->program, fde->program_end);
    return out->program.failed ? SFB_BAD_CFI : SFB_OK;
}

enum sfb_status sfb_cfi_machine_next(struct sfb_cfi_machine *m)
{
    enum sfb_status status;
    uint64_t location;

    /* Skips empty rows: an instruction may advance by 0. */
    do {
        if (m->end >= m->fde->end)
            return SFB_END;
        m->start = m->end;
        location = m->fde->end;
        status = run(m, &location);
        if (status != SFB_OK)
            return status;
        if (location < m->start)
            return SFB_BAD_CFI;
        m->end = location;
    } while (m->end == m->start);
    if (m->end > m->fde->end)
        m->end = m->fde->end;
    return SFB_OK;
}

__attribute__((noinline)) bool sfb_cfi_is_sound(const struct sfb_eh_frame *eh,
                                                const struct sfb_cfi_fde *fde)
{
    struct sfb_cfi_cell cells[SFB_CFI_CELLS(SFB_CFI_RULE_COLUMNS)];
    struct sfb_cfi_machine machine;
    enum sfb_status status = sfb_cfi_machine_init(&machine, eh, fde, SFB_CFI_RULE_COLUMNS, cells);

    while (status == SFB_OK)
        status = sfb_cfi_machine_next(&machine);
    return status == SFB_END && !machine.odd_register &&
           fde->ra_column <= sfb_abi_registers(eh->abi).pc;
}
