/*
 * CFA programs, DWARF 5 section 6.4.2: a machine that yields one row of the unwind table after the
 * other.
 */
#ifndef SFB_EH_FRAME_PROGRAM_H
#define SFB_EH_FRAME_PROGRAM_H

#include "base/reader.h"
#include "sfb/eh_frame.h"

/* How the caller's value of a register is found. */
enum sfb_cfi_how {
    SFB_CFI_UNSET = 0, /* unstated by any instruction */
    SFB_CFI_SAME,
    SFB_CFI_UNDEFINED,
    SFB_CFI_OFFSET,         /* in the word at CFA + offset */
    SFB_CFI_VAL_OFFSET,     /* it is CFA + offset */
    SFB_CFI_REGISTER,       /* in a register */
    SFB_CFI_EXPRESSION,     /* in the word at an expression's value */
    SFB_CFI_VAL_EXPRESSION, /* it is an expression's value */
    SFB_CFI_TOO_FAR         /* an offset that does not fit 32 bits */
};

struct sfb_cfi_cell {
    uint8_t how; /* enum sfb_cfi_how */
    uint8_t reg;
    int32_t offset; /* from the CFA; of an expression, from the start of the view */
};

/*
 * The columns of a row: the registers that are followed. Rules state the first three; the others are
 * callee-saved, and followed on request.
 */
enum { SFB_CFI_RA = 0, SFB_CFI_FP, SFB_CFI_SP, SFB_CFI_RULE_COLUMNS, SFB_CFI_COLUMNS_MAX = 13 };

/* All of a row but its cells. */
struct sfb_cfi_row {
    uint8_t cfa_reg;        /* UINT8_MAX: unstated, or a register that rules cannot name */
    bool cfa_by_expression; /* cfa_expression, and not cfa_reg + cfa_offset */
    bool ra_signed;
    bool cfa_too_far;
    int32_t cfa_offset;
    uint32_t cfa_expression;
};

/* States remembered at once. None of 5.1 million functions remembers two, and handlers' stacks are
   small. */
enum { SFB_CFI_REMEMBER_MAX = 2 };

/* Cells of the current row, of the CIE's final row, and of the remembered rows. */
#define SFB_CFI_CELLS(columns) ((2 + SFB_CFI_REMEMBER_MAX) * (columns))

struct sfb_cfi_machine {
    const struct sfb_eh_frame *eh;
    const struct sfb_cfi_fde *fde;
    struct sfb_reader program;
    uint64_t start, end; /* [start, end): the code that the current row covers */
    uint8_t columns;
    uint8_t remembered;
    bool odd_register; /* some value is in a register that rules cannot name */
    bool eh_return;    /* some row up to here has saved a register of eh_return_last */
    struct sfb_cfi_row row, remembered_row[SFB_CFI_REMEMBER_MAX];
    struct sfb_cfi_cell *cell; /* borrowed: `columns` of the current row, then the others' */
};

/* @return the column of a DWARF register; at least `columns` if it is not followed */
unsigned sfb_cfi_column(const struct sfb_eh_frame *eh, const struct sfb_cfi_fde *fde, uint64_t reg);

/*
 * Runs the common instructions; eh and fde are borrowed.
 *
 * @param cells  SFB_CFI_CELLS(columns) of them, borrowed: three columns need far less stack than all
 */
enum sfb_status sfb_cfi_machine_init(struct sfb_cfi_machine *out, const struct sfb_eh_frame *eh,
                                     const struct sfb_cfi_fde *fde, unsigned columns,
                                     struct sfb_cfi_cell *cells);

/*
 * Goes to the next row, first to the one at the start of the function.
 *
 * @return SFB_OK; SFB_END (the row before was the last); SFB_BAD_CFI
 */
enum sfb_status sfb_cfi_machine_next(struct sfb_cfi_machine *machine);

/*
 * Tells whether an entry is safe for an unwinder that trusts tables: it runs to its end, and names only
 * registers that exist. Cost: all of its instructions.
 */
bool sfb_cfi_is_sound(const struct sfb_eh_frame *eh, const struct sfb_cfi_fde *fde);

#endif
