/*
 * .eh_frame as the library reads it: which functions it has, and their rows as rules.
 *
 * Entries are walked over one behind the other, whatever PT_GNU_EH_FRAME and its table say, and
 * object files are no special case.
 */
#ifndef CHECK_CFI_H
#define CHECK_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/eh_frame.h>

#include "object/eh_frame.h"
#include "object/relocate.h"

/* [start, end) of the code of an entry. */
struct cfi_function {
    uint64_t start, end;
    struct sfb_cfi_fde fde;
    const char *refused; /* why its rows are not read; NULL: they are */
};

struct cfi {
    uint8_t abi;
    uint64_t address, size;  /* of the section */
    struct object_copy copy; /* of it */
    struct sfb_eh_frame_walk walk;
    struct cfi_function *functions; /* ascending by start */
    size_t count;
    uint64_t budget; /* bytes of instructions that may still be followed */
};

enum cfi_answer {
    CFI_RULE,
    CFI_BEYOND,    /* what no rule of this project can say; the reason says what */
    CFI_UNREADABLE /* corrupt; the reason says how */
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
    struct sfb_cfi_rows rows;
    const char *reason; /* why there is no row from next on; NULL: there may be */
};

/*
 * Reads all entries.
 *
 * @param place    one that was found
 * @param corrupt  called for each entry that cannot be read, with where and why; NULL: not asked for
 *
 * @return false: no memory
 */
bool cfi_open(struct cfi *out, const struct object *object, const struct object_cfi_place *place,
              void (*corrupt)(void *data, const struct sfb_error *error), void *data);

void cfi_close(struct cfi *cfi);

/* Starts at `start`, which lies in the function; rows are cut at `end`. */
void cfi_rows_open(struct cfi_rows *out, struct cfi *cfi, const struct cfi_function *function,
                   uint64_t start, uint64_t end);

/* @return false: there is no more */
bool cfi_rows_next(struct cfi_rows *rows, struct cfi_row *out);

#endif
