/* From a pair of numbers to an index: a hash table that grows. */
#ifndef REPORT_INDEX_H
#define REPORT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_index {
    struct report_index_entry *at;
    size_t count, room; /* a power of two */
};

/*
 * Finds the index of a pair, or notes the one that it will have.
 *
 * @param next   what a new pair gets
 * @param found  written: whether it was there
 * @return false: no memory
 */
bool report_index_find(struct report_index *index, uint64_t a, uint64_t b, uint32_t next,
                       uint32_t *out, bool *found);

/* @return whether a pair was noted; then `out` is written */
bool report_index_has(const struct report_index *index, uint64_t a, uint64_t b, uint32_t *out);

void report_index_free(struct report_index *index);

#endif
