/* The clock of heap events, converted to ns of CLOCK_MONOTONIC. */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_CLOCK_H
#define PROFILER_COLLECTOR_HEAP_HEAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct sfb_heap_clock {
    bool processor;      /* counts are the processor's; else ns */
    uint64_t start;      /* count at the session's start: events count from it */
    uint64_t first, now; /* counts since start: at the first reading, and the last */
    uint64_t first_ns, now_ns;
    double ns_per_count;
};

void sfb_heap_clock_open(struct sfb_heap_clock *clock, bool processor, uint64_t start);

/* Reads both clocks. @return the count of an event at this instant */
uint64_t sfb_heap_clock_look(struct sfb_heap_clock *clock);

static inline uint64_t sfb_heap_clock_ns(const struct sfb_heap_clock *c, uint64_t count)
{
    const double ns = c->ns_per_count;

    return count <= c->now ? c->now_ns - (uint64_t)((double)(c->now - count) * ns)
                           : c->now_ns + (uint64_t)((double)(count - c->now) * ns);
}

static inline uint64_t sfb_heap_clock_counts(const struct sfb_heap_clock *c, uint64_t ns)
{
    return (uint64_t)((double)ns / c->ns_per_count);
}

#endif
