/*
 * What the rules of entries look for in a table, found by searches: entries by start and by rows, functions of
 * .eh_frame by the rows that they should have.
 */
#ifndef TOOLCHAIN_CHECK_CAUSE_INDEX_H
#define TOOLCHAIN_CHECK_CAUSE_INDEX_H

#include "toolchain/check/cause_pair.h"

/* A function of .eh_frame, by size and rows; ascending by key, then by start. */
struct index_entry {
    uint64_t key;
    const struct cfi_function *function;
};

struct pair_index {
    uint64_t *starts; /* of the section's entries, ascending */
    uint64_t *rows;   /* the places of their rows, ascending */
    uint32_t count;
    struct index_entry *functions; /* those whose rows are all rules */
    size_t function_count;
    uint64_t looks; /* entries and functions that a rule was shown: what the searches cost */
};

/*
 * Reads the rows of each function of .eh_frame once. Cost: n log n.
 *
 * @param scratch  its rows are overwritten; rows of the code are not read
 *
 * @return false: no memory. Needs pair_index_free() in each case
 */
bool pair_index_make(struct pair_index *out, const struct hunt *h, struct cfi *cfi,
                     struct row_pair *scratch);

void pair_index_free(struct pair_index *index);

/* How many of an ascending list are below a value. Cost: log n. */
uint32_t pair_rank(const uint64_t *list, uint32_t count, uint64_t value);

/* How many entries start there, and how many have their rows there. Cost: log n. */
uint32_t pair_index_starts(struct pair_index *index, uint64_t start);
uint32_t pair_index_rows(struct pair_index *index, uint64_t row_at);

/* The functions [low, high) of .eh_frame that may have the size of an entry and its rows, which were read. */
struct index_range {
    const struct index_entry *low, *high;
};

/* Cost: log n. @return an empty range: the rows descend, or do not begin at 0 */
struct index_range pair_index_like(struct pair_index *index, const struct row_pair *p);

/* The part of a range that starts in [from, to]. Cost: log n. */
struct index_range pair_index_between(struct pair_index *index, struct index_range range,
                                      uint64_t from, uint64_t to);

#endif
