#include "symbols/spans.h"

#include <stdlib.h>

#include "util/grow.h"

bool object_ranges_add(struct object_ranges *ranges, uint64_t start, uint64_t end, uint32_t id)
{
    struct object_range *at;

    if (start >= end)
        return true;
    at = array_grow(ranges->at, ranges->count, &ranges->room, sizeof *at, UINT32_MAX);
    if (!at)
        return false;
    ranges->at = at;
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

/* Symbol tables and units are often sorted already. */
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

/*
 * The ranges open at the current address, and some that ended: a heap, with the counting one on
 * top.
 */
struct open {
    const struct object_range *ranges;
    enum object_overlap overlap;
    uint32_t *at; /* indices of sorted ranges */
    size_t count;
};

static bool counts_more(const struct open *open, uint32_t x, uint32_t y)
{
    const struct object_range *ranges = open->ranges;

    if (open->overlap == OBJECT_LOWEST_ID && ranges[x].id != ranges[y].id)
        return ranges[x].id < ranges[y].id;
    return x > y;
}

static void push(struct open *open, uint32_t range)
{
    size_t i = open->count++;

    for (; i > 0 && counts_more(open, range, open->at[(i - 1) / 2]); i = (i - 1) / 2)
        open->at[i] = open->at[(i - 1) / 2];
    open->at[i] = range;
}

static void pop(struct open *open)
{
    const uint32_t last = open->at[--open->count];
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < open->count; i = child) {
        if (child + 1 < open->count && counts_more(open, open->at[child + 1], open->at[child]))
            child++;
        if (!counts_more(open, open->at[child], last))
            break;
        open->at[i] = open->at[child];
    }
    open->at[i] = last;
}

/* Closes the counting ranges that end before an address. */
static void close_ranges(struct object_spans *spans, struct open *open, uint64_t address)
{
    while (open->count > 0 && open->ranges[open->at[0]].end <= address) {
        const uint64_t end = open->ranges[open->at[0]].end;

        /* Hidden ranges may have ended earlier. */
        while (open->count > 0 && open->ranges[open->at[0]].end <= end)
            pop(open);
        begin_span(spans, end, open->count > 0 ? open->ranges[open->at[0]].id : OBJECT_NO_SPAN);
    }
}

static void fill(struct object_spans *spans, const struct object_ranges *ranges, struct open *open)
{
    for (size_t i = 0; i < ranges->count; i++) {
        close_ranges(spans, open, ranges->at[i].start);
        push(open, (uint32_t)i);
        begin_span(spans, ranges->at[i].start, ranges->at[open->at[0]].id);
    }
    close_ranges(spans, open, UINT64_MAX);
}

bool object_spans_make(struct object_spans *out, struct object_ranges *ranges,
                       enum object_overlap overlap)
{
    struct open open = { ranges->at, overlap, NULL, 0 };
    struct object_span *fitting;

    *out = (struct object_spans){ NULL, 0 };
    if (ranges->count == 0)
        return true;
    out->at = calloc(ranges->count, 2 * sizeof *out->at); /* a start and an end each */
    open.at = calloc(ranges->count, sizeof *open.at);
    if (!out->at || !open.at) {
        object_spans_free(out);
        object_ranges_free(ranges);
        free(open.at);
        return false;
    }
    sort(ranges);
    fill(out, ranges, &open);
    free(open.at);
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
