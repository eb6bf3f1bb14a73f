/*
 * .eh_frame by elfutils' libdw: which functions it has, and their rows as rules.
 *
 * libdw is given a file of its own, in memory, with that section and nothing else: it then reads
 * the entries one behind the other, whatever PT_GNU_EH_FRAME and its table say, and object files
 * are no special case.
 */
#ifndef CHECK_CFI_H
#define CHECK_CFI_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/eh_frame.h>

#include "object/eh_frame.h"
#include "object/relocate.h"

/* [start, end) of the code of an entry. */
struct cfi_function {
    uint64_t start, end;
    uint64_t at;         /* of the entry in the section */
    uint64_t cost;       /* bytes of its instructions, which libdw follows anew for each row */
    const char *refused; /* why libdw does not have it; NULL: it has */
};

struct cfi {
    uint8_t abi;
    uint64_t address, size; /* of the section */
    uint8_t *image;         /* the file that libdw reads */
    Elf *elf;
    Dwarf_CFI *libdw;
    struct cfi_function *functions; /* ascending by start */
    size_t count;
    uint64_t budget; /* bytes of instructions that may still be followed */
    /* libdw passes over the instruction that says that the return address is signed: for AArch64
     * the library's own reader is asked, too. */
    uint8_t *view;
    struct sfb_eh_frame own;
};

enum cfi_answer {
    CFI_RULE,
    CFI_BEYOND,     /* what no rule of this project can say; the reason says what */
    CFI_UNREADABLE, /* libdw refuses; the reason is its own */
};

/* A row: it holds in [start, end). */
struct cfi_row {
    uint64_t start, end;
    enum cfi_answer answer;
    bool signs_known; /* whether the rule says if the return address is signed, and by what key */
    struct sfb_rule rule;
    const char *reason;
};

/* A walk over the rows of a stretch of a function. */
struct cfi_rows {
    struct cfi *cfi;
    const struct cfi_function *function;
    uint64_t next, end;
    Dwarf_Frame *frame; /* the one that holds at next, where that is known already */
    uint64_t frame_end;
    bool has_signs;
    struct sfb_cfi_fde fde;
    struct sfb_cfi_rows signs;
};

/* @param place  one that was found. @return false: no memory */
bool cfi_open(struct cfi *out, struct object *object, const struct object_cfi_place *place);

void cfi_close(struct cfi *cfi);

/* Starts at `start`, which lies in the function; rows are cut at `end`. */
void cfi_rows_open(struct cfi_rows *out, struct cfi *cfi, const struct cfi_function *function,
                   uint64_t start, uint64_t end);

/* @return false: there is no more */
bool cfi_rows_next(struct cfi_rows *rows, struct cfi_row *out);

void cfi_rows_close(struct cfi_rows *rows);

/* A row of libdw's at a pc. @return the answer; varies is set if an expression asks for the pc */
enum cfi_answer cfi_frame_rule(struct cfi_row *out, Dwarf_Frame *frame, uint64_t pc, uint8_t abi,
                               bool *varies);

#endif
