/* The rules by which one table becomes the other. */
#ifndef TOOLCHAIN_CHECK_CAUSE_PAIRS_H
#define TOOLCHAIN_CHECK_CAUSE_PAIRS_H

#include "toolchain/check/cause_hunt.h"
#include "toolchain/check/cause_index.h"

bool pair_is_equal(const struct row_pair *p);

/* How many rows of .eh_frame have no row of .sframe at the same place with the same rule. */
uint32_t pair_wrong(const struct row_pair *p);

/* Whether each address has the same rule in both tables. */
bool pair_agrees(struct row_pair *p);

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

/* Whether the entry is that function's: its size, and its rows, which were read. */
bool pair_is_of(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f);

/*
 * By the code: whether the function there has the entry's size and rows. Rows of a function without a frame fit in
 * many places: they are not asked.
 */
bool pair_fits_at(struct row_pair *p, struct cfi *cfi, uint64_t start);

/* All functions that a rule makes, for what can be judged of them together. */
struct pair_group {
    struct row_pair *p;
    struct cfi *cfi;
    const uint32_t *members; /* of the section, ascending */
    uint32_t count;
    const uint64_t *right; /* the starts of entries that are right, ascending */
    uint32_t right_count;
    uint32_t wrong; /* entries that are neither */
};

/* A rule that makes an entry, whose rows are right for another function, or reach too far. */
struct entry_rule {
    struct hunt_name name;
    const char *what;
    bool (*makes)(struct row_pair *p, struct cfi *cfi);
    struct pair_demand least;
    bool
        by_code; /* the rule needs no rows that should be there: it counts where .eh_frame is not, too */
    bool (*agree)(const struct pair_group *g); /* all of them together; NULL: not asked */
};

/*
 * The start counts from the other place than the section says (cause_base.c): it is off by the offset of the field.
 * A function with such a start and these rows is often there by chance, so all of them must agree: the entry of a
 * sorted table whose field that was has as many functions before it as there are entries.
 */
bool pair_of_other_base(struct row_pair *p, struct cfi *cfi);
bool pair_bases_agree(const struct pair_group *g);

extern const struct entry_rule entry_rules[];
extern const size_t entry_rule_count;

/* The last rules say little: other causes go before them. */
enum { ENTRY_RULES_LAST = 3 };

/* The function of .eh_frame with that start; NULL: none. */
const struct cfi_function *pair_function(const struct cfi *cfi, uint64_t start);

/* The first one with that start or a later one; NULL: none. */
const struct cfi_function *pair_function_from(const struct cfi *cfi, uint64_t start);

/* The rule of rows that another entry has, too. */
bool pair_shared(struct row_pair *p);

extern const struct pair_rule pair_rules[];
extern const size_t pair_rule_count;

#endif
