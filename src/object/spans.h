/*
 * Which of many ranges an address is in: sorted once, then found by binary search.
 *
 * Ranges may nest and overlap; an order says which one counts where they do.
 */
#ifndef OBJECT_SPANS_H
#define OBJECT_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of an address that no range contains. */
#define OBJECT_NO_SPAN UINT32_MAX

enum object_overlap {
    /* The one that starts last, of those that start together the one that was added last: of nested
     * functions the innermost. */
    OBJECT_LAST_START,
    /* The one with the lowest id: of units that claim the same code the first. Linkers keep one copy of
     * a function, that of the first unit, and point what other units say of theirs to it. */
    OBJECT_LOWEST_ID
};

/* Ranges in the order in which they were added. Zeroed: none. */
struct object_ranges {
    struct object_range {
        uint64_t start, end; /* [start, end) */
        uint32_t id, order;
    } * at;
    size_t count, room;
};

/* Each span goes up to the next one. Zeroed: none. */
struct object_spans {
    struct object_span {
        uint64_t start;
        uint32_t id; /* OBJECT_NO_SPAN: a gap */
    } * at;
    size_t count;
};

/**
 * Adds a range; an empty one is left out.
 *
 * @return false: no memory
 */
bool object_ranges_add(struct object_ranges *ranges, uint64_t start, uint64_t end, uint32_t id);

/** Makes spans of ranges, and frees those. @return false: no memory, and there are no spans */
bool object_spans_make(struct object_spans *out, struct object_ranges *ranges,
                       enum object_overlap overlap);

/** @return the id at an address, or OBJECT_NO_SPAN. Cost: logarithmic. */
uint32_t object_spans_find(const struct object_spans *spans, uint64_t address);

void object_ranges_free(struct object_ranges *ranges);
void object_spans_free(struct object_spans *spans);

#endif
