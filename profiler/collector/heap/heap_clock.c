#include "profiler/collector/heap/heap_clock.h"

#include <time.h>

#include "profiler/protocol/counter.h"

static uint64_t monotonic(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Reads both clocks at almost the same instant: the best of three readings. */
static void look(const struct sfb_heap_clock *c, uint64_t *count, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;

    if (!c->processor) {
        *ns = monotonic();
        *count = *ns - c->start;
        return;
    }
    for (int i = 0; i < 3; i++) {
        const uint64_t before = sfb_counter_read(c->processor), time = monotonic(),
                       after = sfb_counter_read(c->processor);

        if (after - before >= best)
            continue;
        best = after - before;
        *count = before + best / 2 - c->start;
        *ns = time;
    }
}

/* The ratio of the clocks needs some time to be known: it is first measured over a ms. */
void sfb_heap_clock_open(struct sfb_heap_clock *c, bool processor, uint64_t start)
{
    static const struct timespec pause = { .tv_nsec = 1000000 };

    *c = (struct sfb_heap_clock){ .processor = processor, .start = start, .ns_per_count = 1 };
    look(c, &c->first, &c->first_ns);
    c->now = c->first;
    c->now_ns = c->first_ns;
    if (!processor)
        return;
    nanosleep(&pause, NULL);
    sfb_heap_clock_look(c);
}

uint64_t sfb_heap_clock_look(struct sfb_heap_clock *c)
{
    look(c, &c->now, &c->now_ns);
    if (c->processor && c->now > c->first)
        c->ns_per_count = (double)(c->now_ns - c->first_ns) / (double)(c->now - c->first);
    return c->now;
}
