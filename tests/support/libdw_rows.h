/*
 * What elfutils' libdw says of a row of .eh_frame, computed: registers and memory have values that
 * no two of them share, so that two descriptions are the same if the numbers are.
 */
#ifndef SUPPORT_LIBDW_ROWS_H
#define SUPPORT_LIBDW_ROWS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t word_at(uint64_t address);
uint64_t register_value(uint64_t number);

/* What is said of a register of the caller. */
enum said_kind { UNDEFINED, SAME, VALUE, BEYOND /* an operation that is not computed here */ };

struct said {
    enum said_kind kind;
    uint64_t value;
};

/* DWARF numbers. */
struct registers {
    unsigned sp, fp, pc;
};

struct row {
    struct said cfa, ra, fp, sp;
    unsigned ra_column;
    uint64_t end;
    bool signal;
    /* Every value is a register or the CFA, and a number, perhaps loaded once, and a number. */
    bool simple;
};

enum libdw_answer { LIBDW_ROW, LIBDW_NO_ENTRY, LIBDW_REFUSES /* dwarf_errmsg(0) says why */ };

enum libdw_answer libdw_row_at(struct row *out, Dwarf_CFI *cfi, uint64_t pc,
                               struct registers known);

/*
 * [start, end) of the code of an entry: libdw leaves its addresses as they are encoded.
 *
 * @param frames   the section
 * @param address  where it lies
 */
bool libdw_code_of(const Dwarf_FDE *fde, const unsigned char *ident, Elf_Data *frames,
                   uint64_t address, uint64_t *start, uint64_t *end);

#endif
