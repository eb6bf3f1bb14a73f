/*
 * The kernel's clocks, in nanoseconds. The C library's clock_gettime() may be interposed (libfaketime): it may then take
 * locks, and return times that the recorder rejects. CPU clocks are system calls anyway, and CLOCK_MONOTONIC is read no
 * more often. Safe in a signal handler; errno is preserved.
 */
#ifndef PROFILER_AGENT_CLOCKS_H
#define PROFILER_AGENT_CLOCKS_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include "unwind/machine/native.h"

/* @return 0: the clock does not exist (any more) */
static inline uint64_t sfb_clock(clockid_t clock)
{
    struct timespec t = { 0, 0 };

    if (sfb_arch_syscall(SYS_clock_gettime, (uint64_t)clock, (uint64_t)(uintptr_t)&t, 0, 0) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static inline uint64_t sfb_now(void)
{
    return sfb_clock(CLOCK_MONOTONIC);
}

/* The CPU clock id of a thread of this process, encoded as in the kernel's posix-timers.h. */
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
