/* Preloaded: CLOCK_MONOTONIC goes a thousand times as fast, and each thread's stack has to hold 64 KiB of its own. */
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FACTOR = 1000 };

__attribute__((visibility("default"))) _Thread_local char hasty_storage[64 * 1024] = { 1 };

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's have underscores
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = (int)syscall(SYS_clock_gettime, clock, out);
    uint64_t ns;

    if (result != 0 || clock != CLOCK_MONOTONIC)
        return result;
    ns = ((uint64_t)out->tv_sec * 1000000000U + (uint64_t)out->tv_nsec) * FACTOR;
    out->tv_sec = (time_t)(ns / 1000000000U);
    out->tv_nsec = (long)(ns % 1000000000U);
    return 0;
}
