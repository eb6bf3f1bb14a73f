#include "object/spans.h"

#include <stdlib.h>

bool object_ranges_add(struct object_ranges *ranges, uint64_t start, uint64_t end, uint32_t id)
{
    if (start >= end)
        return true;
    if (ranges->count == ranges->room) {
        const size_t room = ranges->room ? 2 * ranges->room : 64;
        struct object_range *at =
            room <= UINT32_MAX ? reallocarray(ranges->at, room, sizeof *at) : NULL;

        if (!at)
            return false;
        ranges->at = at;
        ranges->room = room;
    }
    ranges->at[ranges->count] = (struct object_range){ start, end, id, (uint32_t)ranges->count };
    ranges->count++;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct object_range *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Symbol tables and units are often in order already. */
static void sort(struct object_ranges *ranges)
{
    for (size_t i = 1; i < ranges->count; i++)
        if (ranges->at[i - 1].start > ranges->at[i].start) {
            qsort(ranges->at, ranges->count, sizeof *ranges->at, by_start);
            return;
        }
}

static void begin_span(struct object_spans *spans, uint64_t start, uint32_t id)
{
    if (spans->count > 0 && spans->at[spans->count - 1].id == id)
        return;
    if (spans->count == 0 || spans->at[spans->count - 1].start != start)
        spans->at[spans->count++].start = start;
    spans->at[spans->count - 1].id = id;
}

/* Closes the open ranges that end up to an address. @return how many are open still */
static size_t close_ranges(struct object_spans *spans, const struct object_range *ranges,
                           const uint32_t *open, size_t depth, uint64_t address)
{
    while (depth > 0 && ranges[open[depth - 1]].end <= address) {
        const uint64_t end = ranges[open[--depth]].end;

        /* Those below that ended earlier were hidden up to here. */
        while (depth > 0 && ranges[open[depth - 1]].end <= end)
            depth--;
        begin_span(spans, end, depth > 0 ? ranges[open[depth - 1]].id : OBJECT_NO_SPAN);
    }
    return depth;
}

/* @param open  room for as many numbers: ranges that contain the address reached, the last counts */
static void fill(struct object_spans *spans, const struct object_ranges *ranges, uint32_t *open)
{
    size_t depth = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        const struct object_range *range = &ranges->at[i];

        depth = close_ranges(spans, ranges->at, open, depth, range->start);
        begin_span(spans, range->start, range->id);
        open[depth++] = (uint32_t)i;
    }
    close_ranges(spans, ranges->at, open, depth, UINT64_MAX);
}

bool object_spans_make(struct object_spans *out, struct object_ranges *ranges)
{
    uint32_t *open = NULL;
    struct object_span *fitting;

    *out = (struct object_spans){ NULL, 0 };
    if (ranges->count == 0)
        return true;
    out->at = calloc(ranges->count, 2 * sizeof *out->at); /* a start and an end each */
    open = calloc(ranges->count, sizeof *open);
    if (!out->at || !open) {
        object_spans_free(out);
        object_ranges_free(ranges);
        free(open);
        return false;
    }
    sort(ranges);
    fill(out, ranges, open);
    free(open);
    object_ranges_free(ranges);
    fitting = reallocarray(out->at, out->count, sizeof *out->at);
    if (fitting)
        out->at = fitting;
    return true;
}

uint32_t object_spans_find(const struct object_spans *spans, uint64_t address)
{
    size_t lo = 0, hi = spans->count; /* the span is in [lo - 1, hi) */

    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;

        if (spans->at[middle].start <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo > 0 ? spans->at[lo - 1].id : OBJECT_NO_SPAN;
}

void object_ranges_free(struct object_ranges *ranges)
{
    free(ranges->at);
    *ranges = (struct object_ranges){ NULL, 0, 0 };
}

void object_spans_free(struct object_spans *spans)
{
    free(spans->at);
    *spans = (struct object_spans){ NULL, 0 };
}
