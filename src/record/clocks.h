/*
 * Clocks, in nanoseconds, of the kernel: the C library's clock_gettime() may be interposed (libfaketime), may take locks
 * there, and then says times that the recorder has to take for impossible. CPU clocks are system calls in either case,
 * and CLOCK_MONOTONIC is not asked more often. Safe in a signal handler; errno is not touched.
 */
#ifndef SFB_RECORD_CLOCKS_H
#define SFB_RECORD_CLOCKS_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include "unwind/machine/native.h"

/* 0: there is no such clock (any more). */
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
