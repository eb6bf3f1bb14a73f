/* The rows of one function by both tables. */
#ifndef TOOLCHAIN_CHECK_CAUSE_PAIR_H
#define TOOLCHAIN_CHECK_CAUSE_PAIR_H

#include "toolchain/check/cfi.h"
#include "toolchain/check/check.h"

struct hunt;
struct pair_index;

/* Functions with more rows are not looked at. */
enum { PAIR_ROWS = 512 };

struct pair_row {
    uint32_t start;
    struct sfb_rule rule;
};

struct row_pair {
    struct check_function function;
    uint32_t count, wanted; /* rows of .sframe, of .eh_frame */
    struct pair_row row[PAIR_ROWS];
    struct cfi_row want[PAIR_ROWS]; /* starts count from the function; equal neighbours are one */
    const struct hunt *hunt;
    struct pair_index *index; /* cause_index.h */
    /*
     * NULL: rows of .eh_frame; else what should be there (cause_code.h). adapt: the same beside other rows, which were
     * read since.
     */
    bool (*want_by)(struct row_pair *p, const struct cfi_function *f);
    bool (*adapt)(struct row_pair *p);
    void *want_data;
    bool elsewhere; /* the code is not where the entry says: entries around it may be wrong, too */
    bool as_it_is;  /* the rows were read with no other entry or part */
    bool unowned;   /* rows lie unused in the table */
};

/* Reads the rows of .sframe into a pair, with the fix of the part. @return false: not all */
bool pair_read(struct row_pair *p, const struct sframe_part *part, const struct sframe_entry *e);

/* Reads the rows of .eh_frame, or of the code. @return false: not all are rules, or too many */
bool pair_want(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f);

/* The same for a range of the function, from whose start the rows count. */
bool pair_want_range(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f,
                     uint64_t start, uint64_t end);

#endif
