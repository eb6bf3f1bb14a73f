/*
 * The system calls of the handler, straight into the kernel: the C library's functions set errno,
 * may be interposed, and some of them are points of cancellation.
 */
#ifndef SFB_CRASH_KERNEL_H
#define SFB_CRASH_KERNEL_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "unwind/machine/native.h"

/* Results: the kernel's, on failure -errno. A filter of system calls may give any of them. */
static inline long sfb_kernel(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return sfb_arch_syscall(number, a, b, c, d);
}

enum { SFB_KERNEL_SIGSET_SIZE = 8 };

static inline uint64_t sfb_kernel_sigbit(int number)
{
    return (uint64_t)1 << (number - 1);
}

static inline int sfb_kernel_thread(void)
{
    return (int)sfb_kernel(SYS_gettid, 0, 0, 0, 0);
}

static inline int sfb_kernel_process(void)
{
    return (int)sfb_kernel(SYS_getpid, 0, 0, 0, 0);
}

/* @param how  SIG_BLOCK, SIG_UNBLOCK or SIG_SETMASK */
static inline void sfb_kernel_mask(int how, uint64_t set)
{
    sfb_kernel(SYS_rt_sigprocmask, (uint64_t)how, (uintptr_t)&set, 0, SFB_KERNEL_SIGSET_SIZE);
}

/*
 * Restores the default action of a signal: a kernel's struct sigaction that is all zero.
 *
 * @return false: a filter of system calls refused it
 */
static inline bool sfb_kernel_default(int number)
{
    static const uint64_t action[4];

    return sfb_kernel(SYS_rt_sigaction, (uint64_t)number, (uintptr_t)action, 0,
                      SFB_KERNEL_SIGSET_SIZE) == 0;
}

/* Tells whether the default action of a signal is in effect again. */
static inline bool sfb_kernel_is_default(int number)
{
    uint64_t action[4] = { 1 }; /* begins with the handler */

    return sfb_kernel(SYS_rt_sigaction, (uint64_t)number, 0, (uintptr_t)action,
                      SFB_KERNEL_SIGSET_SIZE) == 0 &&
           action[0] == (uintptr_t)SIG_DFL;
}

static inline void sfb_kernel_sleep_ms(unsigned ms)
{
    int64_t time[2] = { ms / 1000, ms % 1000 * 1000000L };
    long done = sfb_kernel(SYS_nanosleep, (uintptr_t)time, 0, 0, 0);

    if (done < 0 && done != -EINTR) /* a filter of system calls */
        sfb_kernel(SYS_ppoll, 0, 0, (uintptr_t)time, 0);
}

/* Returns only if a filter of system calls refuses the exit. */
static inline void sfb_kernel_exit(int status)
{
    sfb_kernel(SYS_exit_group, (uint64_t)status, 0, 0, 0);
}

#endif
