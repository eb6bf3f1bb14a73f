/* Maps pairs of numbers to indices: a growing hash table. */
#ifndef UTIL_INDEX_H
#define UTIL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_index {
    struct report_index_entry *at;
    size_t count, room; /* a power of two */
};

/*
 * Finds the index of a pair, or adds the pair.
 *
 * @param next   the index of a new pair
 * @param found  written: whether the pair was known
 * @return false: no memory
 */
bool report_index_find(struct report_index *index, uint64_t a, uint64_t b, uint32_t next,
                       uint32_t *out, bool *found);

/* @return whether a pair is known; then `out` is written */
bool report_index_has(const struct report_index *index, uint64_t a, uint64_t b, uint32_t *out);

/* Forgets all pairs, and keeps the room. */
void report_index_clear(struct report_index *index);

void report_index_free(struct report_index *index);

#endif
