/*
 * .eh_frame by the library's reader: its functions, and their rows as rules.
 *
 * Entries are walked one behind the other. PT_GNU_EH_FRAME and its table are not used, so object
 * files are no special case.
 */
#ifndef TOOLCHAIN_CHECK_CFI_H
#define TOOLCHAIN_CHECK_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/eh_frame.h>

#include "symbols/eh_frame.h"
#include "symbols/relocate.h"

/* The code [start, end) of an entry. */
struct cfi_function {
    uint64_t start, end;
    struct sfb_cfi_fde fde;
    const char *refused; /* why its rows are not read; NULL: they are */
};

enum { CFI_EMPTY_MAX = 16 };

struct cfi {
    uint8_t abi;
    uint64_t address, size;  /* of the section */
    struct object_copy copy; /* of the section */
    struct sfb_eh_frame_walk walk;
    struct cfi_function *functions; /* ascending by start */
    size_t count;
    uint64_t empty[CFI_EMPTY_MAX]; /* entries for no code: the first of them */
    size_t empty_count;
    uint64_t budget; /* bytes of instructions that may still be interpreted */
};

enum cfi_answer {
    CFI_RULE,
    CFI_BEYOND,    /* not expressible as a rule; see reason */
    CFI_UNREADABLE /* corrupt; see reason */
};

/* A row: it holds in [start, end). */
struct cfi_row {
    uint64_t start, end;
    enum cfi_answer answer;
    bool signs_known; /* the rule states whether the return address is signed, and the key */
    struct sfb_rule rule;
    const char *reason;
};

/* A walk over the rows in a range of a function. */
struct cfi_rows {
    struct cfi *cfi;
    const struct cfi_function *function;
    uint64_t next, end;
    struct sfb_cfi_rows rows;
    const char *reason; /* why there is no row from next on; NULL: unknown */
};

/*
 * Reads all entries.
 *
 * @param place    a section that was found
 * @param corrupt  called for each unreadable entry, with offset and cause; may be NULL
 *
 * @return false: no memory
 */
bool cfi_open(struct cfi *out, const struct object *object, const struct object_cfi_place *place,
              void (*corrupt)(void *data, const struct sfb_error *error), void *data);

void cfi_close(struct cfi *cfi);

/* Starts at `start`, which lies in the function; cuts rows at `end`. */
void cfi_rows_open(struct cfi_rows *out, struct cfi *cfi, const struct cfi_function *function,
                   uint64_t start, uint64_t end);

/* @return false: no more rows */
bool cfi_rows_next(struct cfi_rows *rows, struct cfi_row *out);

#endif
