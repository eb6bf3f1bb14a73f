/* Clock and order statistics. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t timing_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* What one pair of clock calls adds to the time between them; the smallest is the undisturbed one.
 */
static inline uint64_t timing_overhead(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 1000; i++) {
        uint64_t start = timing_now();
        uint64_t ns = timing_now() - start;

        least = ns < least ? ns : least;
    }
    return least;
}

/* For what is timed one by one and not in batches. */
static inline uint64_t timing_less_clock(uint64_t ns)
{
    static uint64_t overhead;

    if (overhead == 0) {
        overhead = timing_overhead();
    }
    return ns > overhead ? ns - overhead : 0;
}

static inline int timing_compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return *x < *y ? -1 : *x > *y;
}

struct spread {
    double low, median, high; /* the quartiles */
};

/* Sorts the samples. */
static inline struct spread timing_spread(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, timing_compare);
    return (struct spread){ samples[count / 4], samples[count / 2],
                            samples[count - 1 - count / 4] };
}

#endif
