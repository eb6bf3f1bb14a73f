#include "libdw_rows.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 64 };

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

uint64_t word_at(uint64_t address)
{
    return mix(address + 0x1234567);
}

uint64_t register_value(uint64_t number)
{
    return mix(~number);
}

/* A value, and what it is made of. */
struct cell {
    uint64_t value;
    unsigned
        registers;  /* and the CFA; the pc is a number. 2: more than the sum of one and a number */
    unsigned loads; /* one behind the other */
};

struct machine {
    struct registers known;
    uint64_t pc, cfa;
    struct cell stack[STACK_MAX];
    size_t depth;
    bool beyond;
};

static void push(struct machine *m, struct cell cell)
{
    if (m->depth == STACK_MAX)
        m->beyond = true;
    else
        m->stack[m->depth++] = cell;
}

static struct cell pop(struct machine *m)
{
    if (m->depth == 0) {
        m->beyond = true;
        return (struct cell){ .value = 0 };
    }
    return m->stack[--m->depth];
}

static struct cell in_register(const struct machine *m, uint64_t number)
{
    if (number == m->known.pc)
        return (struct cell){ .value = m->pc };
    return (struct cell){ .value = register_value(number), .registers = 1 };
}

static void push_register(struct machine *m, uint64_t number, uint64_t offset)
{
    struct cell cell = in_register(m, number);

    cell.value += offset;
    push(m, cell);
}

static uint64_t fold(unsigned atom, uint64_t a, uint64_t b)
{
    switch (atom) {
    case DW_OP_plus: return a + b;
    case DW_OP_minus: return a - b;
    case DW_OP_and: return a & b;
    case DW_OP_mul: return a * b;
    case DW_OP_shl: return b < 64 ? a << b : 0;
    default: return (int64_t)a >= (int64_t)b;
    }
}

static void binary(struct machine *m, unsigned atom)
{
    const struct cell b = pop(m), a = pop(m);
    struct cell result = { .value = fold(atom, a.value, b.value),
                           .registers = a.registers + b.registers,
                           .loads = a.loads + b.loads };

    if ((atom == DW_OP_minus && b.registers > 0) ||
        (atom != DW_OP_plus && atom != DW_OP_minus && result.registers > 0))
        result.registers = 2;
    push(m, result);
}

static void operate(struct machine *m, const Dwarf_Op *op)
{
    struct cell cell;

    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
        push(m, (struct cell){ .value = op->atom - DW_OP_lit0 });
        return;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        push_register(m, op->atom - DW_OP_breg0, op->number);
        return;
    }
    switch (op->atom) {
    case DW_OP_bregx: push_register(m, op->number, op->number2); break;
    case DW_OP_call_frame_cfa: push(m, (struct cell){ .value = m->cfa, .registers = 1 }); break;
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts: push(m, (struct cell){ .value = op->number }); break;
    case DW_OP_plus_uconst:
        cell = pop(m);
        cell.value += op->number;
        push(m, cell);
        break;
    case DW_OP_deref:
        cell = pop(m);
        cell.value = word_at(cell.value);
        cell.loads++;
        push(m, cell);
        break;
    case DW_OP_plus:
    case DW_OP_minus:
    case DW_OP_and:
    case DW_OP_mul:
    case DW_OP_shl:
    case DW_OP_ge: binary(m, op->atom); break;
    case DW_OP_nop: break;
    default: m->beyond = true; break;
    }
}

/* The value on top in the end; the machine is a copy. */
static struct said compute(struct machine m, const Dwarf_Op *ops, size_t size, struct row *row)
{
    const struct cell *top;

    for (size_t i = 0; i < size; i++)
        operate(&m, &ops[i]);
    if (m.depth == 0 || m.beyond)
        return (struct said){ BEYOND, 0 };
    top = &m.stack[m.depth - 1];
    row->simple = row->simple && top->registers <= 1 && top->loads <= 1;
    return (struct said){ VALUE, top->value };
}

/* A location description -> the caller's value of the register. */
static struct said value_of(const struct machine *m, const Dwarf_Op *ops, size_t size,
                            struct row *row)
{
    struct said said;

    if (size == 1 && ops[0].atom == DW_OP_regx)
        return (struct said){ VALUE, in_register(m, ops[0].number).value };
    if (size == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
        return (struct said){ VALUE, in_register(m, ops[0].atom - DW_OP_reg0).value };
    if (ops[size - 1].atom == DW_OP_stack_value)
        return compute(*m, ops, size - 1, row);
    /* The place of a word: with a load in it there are two, one behind the other. */
    said = compute(*m, ops, size, row);
    for (size_t i = 0; i < size; i++)
        row->simple = row->simple && ops[i].atom != DW_OP_deref;
    if (said.kind == VALUE)
        said.value = word_at(said.value);
    return said;
}

static bool read_register(struct said *out, struct row *row, Dwarf_Frame *frame, unsigned number,
                          const struct machine *m)
{
    Dwarf_Op mem[3], *ops;
    size_t size;

    if (dwarf_frame_register(frame, (int)number, mem, &ops, &size) != 0)
        return false;
    if (size > 0)
        *out = value_of(m, ops, size, row);
    else
        *out = (struct said){ ops == mem ? UNDEFINED : SAME, 0 };
    return true;
}

static bool read_row(struct row *out, Dwarf_Frame *frame, uint64_t pc, struct registers known)
{
    struct machine m = { .known = known, .pc = pc };
    Dwarf_Op *ops;
    Dwarf_Addr start, end;
    size_t size;
    int ra = dwarf_frame_info(frame, &start, &end, &out->signal);

    if (ra < 0 || dwarf_frame_cfa(frame, &ops, &size) != 0)
        return false;
    out->ra_column = (unsigned)ra;
    out->end = end;
    out->simple = true;
    out->cfa = size > 0 ? compute(m, ops, size, out) : (struct said){ UNDEFINED, 0 };
    m.cfa = out->cfa.value;
    return read_register(&out->ra, out, frame, (unsigned)ra, &m) &&
           read_register(&out->fp, out, frame, known.fp, &m) &&
           read_register(&out->sp, out, frame, known.sp, &m);
}

enum libdw_answer libdw_row_at(struct row *out, Dwarf_CFI *cfi, uint64_t pc, struct registers known)
{
    Dwarf_Frame *frame = NULL;
    bool read;

    if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0) {
        /* libdw does not tell its numbers of errors. Asking for the text forgets the error. */
        int error = dwarf_errno();

        if (strcmp(dwarf_errmsg(error), "no matching address range") == 0)
            return LIBDW_NO_ENTRY;
        return LIBDW_REFUSES;
    }
    read = read_row(out, frame, pc, known);
    free(frame);
    return read ? LIBDW_ROW : LIBDW_REFUSES;
}

static uint64_t number_at(const uint8_t *at, size_t width, bool sign, bool big)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value = value << 8 | at[big ? i : width - 1 - i];
    if (sign && width < 8 && (value >> (8 * width - 1) & 1))
        value |= ~(uint64_t)0 << 8 * width;
    return value;
}

/* Bytes of a pointer; 0: an encoding that no linker writes here. */
static size_t width_of(uint8_t encoding)
{
    switch (encoding & 7) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8: return 8;
    case DW_EH_PE_udata4: return 4;
    case DW_EH_PE_udata2: return 2;
    default: return 0;
    }
}

/* How the addresses of an entry are encoded: what its CIE says behind the letter R. */
static bool encoding_of(const unsigned char *ident, Elf_Data *frames, Dwarf_Off cie_offset,
                        uint8_t *out)
{
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    const uint8_t *data;

    if (dwarf_next_cfi(ident, frames, true, cie_offset, &next, &entry) != 0 ||
        !dwarf_cfi_cie_p(&entry))
        return false;
    data = entry.cie.augmentation_data;
    *out = DW_EH_PE_absptr;
    for (const char *letter = entry.cie.augmentation; *letter; letter++) {
        if (*letter == 'R')
            *out = *data;
        if (*letter == 'R' || *letter == 'L')
            data++;
        if (*letter == 'P')
            data += 1 + width_of(*data);
    }
    return true;
}

bool libdw_code_of(const Dwarf_FDE *fde, const unsigned char *ident, Elf_Data *frames,
                   uint64_t address, uint64_t *start, uint64_t *end)
{
    const bool big = ident[EI_DATA] == ELFDATA2MSB;
    const uint8_t *at = fde->start;
    uint8_t encoding;
    size_t width;

    if (!encoding_of(ident, frames, fde->CIE_pointer, &encoding) || !(width = width_of(encoding)))
        return false;
    *start = number_at(at, width, encoding & DW_EH_PE_signed, big);
    if ((encoding & 0x70) == DW_EH_PE_pcrel)
        *start += address + (uint64_t)(at - (const uint8_t *)frames->d_buf);
    *end = *start + number_at(at + width, width, false, big);
    return true;
}
