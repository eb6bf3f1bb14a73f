/* Known work of the programs that are recorded. */
#ifndef RECORD_BURN_H
#define RECORD_BURN_H

#include <stdint.h>
#include <time.h>

static inline uint64_t cpu_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* Burns so much CPU time of the calling thread. */
static inline void burn_ms(unsigned ms)
{
    uint64_t end = cpu_of(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * 1000000U;
    volatile unsigned sum = 0;

    while (cpu_of(CLOCK_THREAD_CPUTIME_ID) < end)
        for (unsigned i = 0; i < 2000; i++)
            sum += i;
    (void)sum;
}

static inline void sleep_ms(unsigned ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

#endif
