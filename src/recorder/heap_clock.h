/* The clock of events of the heap, in ns of CLOCK_MONOTONIC. */
#ifndef RECORDER_HEAP_CLOCK_H
#define RECORDER_HEAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct sfb_heap_clock {
    bool processor;      /* the processor's counter; else ns */
    uint64_t start;      /* what events count from */
    uint64_t first, now; /* counts, less start: of the first look and the last one */
    uint64_t first_ns, now_ns;
    double ns_per_count;
};

void sfb_heap_clock_open(struct sfb_heap_clock *clock, bool processor, uint64_t start);

/* Looks at both clocks. @return what an event of this instant would say */
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
