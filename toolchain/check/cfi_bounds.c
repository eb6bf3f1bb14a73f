#include "toolchain/check/cfi_bounds.h"

#include <dwarf.h>
#include <stdbool.h>

/* Operands of an instruction, in order. */
enum operand {
    NONE,
    REGISTER, /* readers allocate by it */
    NUMBER,   /* LEB128 */
    BLOCK,    /* its length, and as many bytes */
    ADDRESS,
    BYTES_1,
    BYTES_2,
    BYTES_4,
    BYTES_8
};

static const struct {
    uint8_t known;
    uint8_t operands[2];
} instructions[0x40] = {
    [DW_CFA_nop] = { 1, { NONE } },
    [DW_CFA_set_loc] = { 1, { ADDRESS } },
    [DW_CFA_advance_loc1] = { 1, { BYTES_1 } },
    [DW_CFA_advance_loc2] = { 1, { BYTES_2 } },
    [DW_CFA_advance_loc4] = { 1, { BYTES_4 } },
    [DW_CFA_MIPS_advance_loc8] = { 1, { BYTES_8 } },
    [DW_CFA_offset_extended] = { 1, { REGISTER, NUMBER } },
    [DW_CFA_restore_extended] = { 1, { REGISTER } },
    [DW_CFA_undefined] = { 1, { REGISTER } },
    [DW_CFA_same_value] = { 1, { REGISTER } },
    [DW_CFA_register] = { 1, { REGISTER, NUMBER } },
    [DW_CFA_remember_state] = { 1, { NONE } },
    [DW_CFA_restore_state] = { 1, { NONE } },
    [DW_CFA_def_cfa] = { 1, { NUMBER, NUMBER } },
    [DW_CFA_def_cfa_register] = { 1, { NUMBER } },
    [DW_CFA_def_cfa_offset] = { 1, { NUMBER } },
    [DW_CFA_def_cfa_expression] = { 1, { BLOCK } },
    [DW_CFA_expression] = { 1, { REGISTER, BLOCK } },
    [DW_CFA_offset_extended_sf] = { 1, { REGISTER, NUMBER } },
    [DW_CFA_def_cfa_sf] = { 1, { NUMBER, NUMBER } },
    [DW_CFA_def_cfa_offset_sf] = { 1, { NUMBER } },
    [DW_CFA_val_offset] = { 1, { REGISTER, NUMBER } },
    [DW_CFA_val_offset_sf] = { 1, { REGISTER, NUMBER } },
    [DW_CFA_val_expression] = { 1, { REGISTER, BLOCK } },
    [DW_CFA_GNU_window_save] = { 1, { NONE } }, /* DW_CFA_AARCH64_negate_ra_state */
    [DW_CFA_GNU_args_size] = { 1, { NUMBER } },
    [DW_CFA_GNU_negative_offset_extended] = { 1, { REGISTER, NUMBER } },
};

static const char malformed[] = "instructions that end within an operand";

/* At most ten bytes: readers differ in longer numbers, and no compiler writes them. */
static bool read_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 10 && *at < end; i++) {
        const uint8_t byte = *(*at)++;

        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if ((byte & 0x80) == 0) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool skip(const uint8_t **at, const uint8_t *end, uint64_t size)
{
    if (size > (uint64_t)(end - *at))
        return false;
    *at += size;
    return true;
}

static const char *read_operand(const uint8_t **at, const uint8_t *end, enum operand operand,
                                size_t width)
{
    uint64_t number = 0;

    switch (operand) {
    case NONE: return NULL;
    case REGISTER:
    case NUMBER:
    case BLOCK:
        if (!read_number(at, end, &number))
            return malformed;
        if (operand == REGISTER && number > CFI_REGISTER_MAX)
            return "a register with a number that no machine has";
        return operand != BLOCK || skip(at, end, number) ? NULL : malformed;
    case ADDRESS: return width > 0 && skip(at, end, width) ? NULL : malformed;
    case BYTES_1: return skip(at, end, 1) ? NULL : malformed;
    case BYTES_2: return skip(at, end, 2) ? NULL : malformed;
    case BYTES_4: return skip(at, end, 4) ? NULL : malformed;
    case BYTES_8: return skip(at, end, 8) ? NULL : malformed;
    }
    return malformed;
}

const char *cfi_program_refused(const uint8_t *at, const uint8_t *end, size_t width)
{
    unsigned states = 0;

    while (at < end) {
        const uint8_t opcode = *at++;
        uint64_t number;
        const char *cause;

        if (opcode >= DW_CFA_advance_loc) { /* two bits, and six of an operand */
            if ((opcode & 0xc0) == DW_CFA_offset && !read_number(&at, end, &number))
                return malformed;
            continue;
        }
        if (!instructions[opcode].known)
            return NULL; /* unknown: its reader refuses it */
        cause = read_operand(&at, end, instructions[opcode].operands[0], width);
        if (!cause)
            cause = read_operand(&at, end, instructions[opcode].operands[1], width);
        if (cause)
            return cause;
        if (opcode == DW_CFA_remember_state && ++states > CFI_STATES_MAX)
            return "more states are remembered at once than any compiler does";
        if (opcode == DW_CFA_restore_state && states > 0)
            states--;
    }
    return NULL;
}
