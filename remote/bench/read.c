/*
 * What reading costs, without the start of a program and without names: read PID TIMES [consistent]. It prints for one
 * sfb_remote_read(), in the median: milliseconds of CPU time, milliseconds, threads, and how many of them were stopped.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sfb/remote.h"

enum { TIMES_MAX = 10000 };

static double now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int by_length(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *of, size_t count)
{
    qsort(of, count, sizeof *of, by_length);
    return of[count / 2];
}

int main(int argc, char **argv)
{
    static double cpu[TIMES_MAX], elapsed[TIMES_MAX];
    const struct sfb_remote_options options = { .size = sizeof options,
                                                .flags = argc > 3 ? SFB_REMOTE_CONSISTENT : 0 };
    const struct sfb_remote_thread *threads;
    const size_t times = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    struct sfb_remote_fault fault;
    struct sfb_remote *remote;
    size_t count = 0, stopped = 0;

    if (times == 0 || times > TIMES_MAX)
        return 2;
    remote = sfb_remote_open((pid_t)strtol(argv[1], NULL, 10), &fault);
    for (size_t i = 0; i < times; i++) {
        const double cpu_before = now(CLOCK_PROCESS_CPUTIME_ID), before = now(CLOCK_MONOTONIC);

        if (!remote || !sfb_remote_read(remote, &options, &fault)) {
            fprintf(stderr, "process %s: %s\n", argv[1], fault.why);
            return 1;
        }
        cpu[i] = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_before;
        elapsed[i] = now(CLOCK_MONOTONIC) - before;
    }
    threads = sfb_remote_threads(remote, &count);
    for (size_t i = 0; i < count; i++)
        stopped += threads[i].how == SFB_REMOTE_STOPPED;
    printf("%.2f %.2f %zu %zu\n", median(cpu, times), median(elapsed, times), count, stopped);
    sfb_remote_close(remote);
    return 0;
}
