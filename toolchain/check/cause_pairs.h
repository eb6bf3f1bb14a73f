/* The rows of one function by both tables, and the rules by which one table becomes the other. */
#ifndef TOOLCHAIN_CHECK_CAUSE_PAIRS_H
#define TOOLCHAIN_CHECK_CAUSE_PAIRS_H

#include "toolchain/check/cause_hunt.h"
#include "toolchain/check/cfi.h"

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
    bool unowned; /* rows lie unused in the table */
};

/* Reads the rows of .sframe into a pair, with the fix of the part. @return false: not all */
bool pair_read(struct row_pair *p, const struct sframe_part *part, const struct sframe_entry *e);

/* Reads the rows of .eh_frame. @return false: not all are rules, or too many */
bool pair_want(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f);

/* The same for a range of the function, from whose start the rows count. */
bool pair_want_range(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f,
                     uint64_t start, uint64_t end);

bool pair_is_equal(const struct row_pair *p);

/* How many rows of .eh_frame have no row of .sframe at the same place with the same rule. */
uint32_t pair_wrong(const struct row_pair *p);

/* Whether each address has the same rule in both tables. */
bool pair_agrees(const struct row_pair *p);

/* Whether the rows are said to repeat, and do not. */
bool pair_repeats(const struct row_pair *p);

/*
 * What is no chance: so many functions with rows of their own, or so many wrong rows in any number of
 * them. A damaged place is one entry, or one or two rows that lie behind each other.
 */
struct pair_demand {
    uint8_t functions; /* 0: PAIR_FUNCTIONS */
    uint8_t rows;      /* 0: rows do not count: one wrong field can make them all */
    bool whole;        /* rows count if none lies unused: a wrong number of rows leaves some */
};

enum { PAIR_FUNCTIONS = 3 };

struct pair_rule {
    struct hunt_name name;
    const char *what; /* behind "the functions 1 to 9" */
    /* Whether the rule makes the rows of .sframe, which are not equal, from rows of .eh_frame. */
    bool (*makes)(struct row_pair *p);
    struct pair_demand least;
};

/* A rule that makes an entry, whose rows are right for another function, or reach too far. */
struct entry_rule {
    struct hunt_name name;
    const char *what;
    bool (*makes)(struct row_pair *p, struct cfi *cfi);
    struct pair_demand least;
};

/* Whether an entry of the section starts there. */
bool pair_entry(const struct row_pair *p, uint64_t start);

extern const struct entry_rule entry_rules[];
extern const size_t entry_rule_count;

/* The last rules say little: other causes go before them. */
enum { ENTRY_RULES_LAST = 3 };

/* The function of .eh_frame with that start; NULL: none. */
const struct cfi_function *pair_function(const struct cfi *cfi, uint64_t start);

extern const struct pair_rule pair_rules[];
extern const size_t pair_rule_count;

#endif
