/* Clocks, in nanoseconds. clock_gettime() is safe in a signal handler; errno is its caller's to keep. */
#ifndef SFB_RECORD_CLOCKS_H
#define SFB_RECORD_CLOCKS_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* 0: there is no such clock (any more). */
static inline uint64_t sfb_clock(clockid_t clock)
{
    struct timespec t = { 0, 0 };

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static inline uint64_t sfb_now(void)
{
    return sfb_clock(CLOCK_MONOTONIC);
}

/* The CPU clock of any thread of this process, as the kernel's header posix-timers.h numbers it. */
static inline clockid_t sfb_clock_of_thread(pid_t tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6U);
}

static inline struct timespec sfb_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000U),
                              .tv_nsec = (long)(ns % 1000000000U) };
}

#endif
