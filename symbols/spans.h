/*
 * Finds the range of an address: sorted once, then binary search.
 *
 * Ranges may nest and overlap; an order says which one counts.
 */
#ifndef SYMBOLS_SPANS_H
#define SYMBOLS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For an address in no range. */
#define OBJECT_NO_SPAN UINT32_MAX

enum object_overlap {
    /*
     * The one that starts last; of equal starts the one added last: the innermost of nested
     * functions.
     */
    OBJECT_LAST_START,
    /*
     * The lowest id: the first unit that claims the code. Linkers keep the first unit's copy of a
     * function, and point the other units to it.
     */
    OBJECT_LOWEST_ID
};

/* Ranges in the order of addition. Zeroed: empty. */
struct object_ranges {
    struct object_range {
        uint64_t start, end; /* [start, end) */
        uint32_t id, order;
    } * at;
    size_t count, room;
};

/* Each span extends to the next one. Zeroed: empty. */
struct object_spans {
    struct object_span {
        uint64_t start;
        uint32_t id; /* OBJECT_NO_SPAN: a gap */
    } * at;
    size_t count;
};

/**
 * Adds a range, unless it is empty.
 *
 * @return false: no memory
 */
bool object_ranges_add(struct object_ranges *ranges, uint64_t start, uint64_t end, uint32_t id);

/**
 * Makes spans of ranges, and frees the ranges. @return false: no memory, and no spans
 */
bool object_spans_make(struct object_spans *out, struct object_ranges *ranges,
                       enum object_overlap overlap);

/** @return the id at an address, or OBJECT_NO_SPAN. Cost: logarithmic. */
uint32_t object_spans_find(const struct object_spans *spans, uint64_t address);

void object_ranges_free(struct object_ranges *ranges);
void object_spans_free(struct object_spans *spans);

#endif
