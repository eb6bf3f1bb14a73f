/*
 * How long a program takes that does nothing, from its start to its end: `sfb record` adds the agent's.
 *
 *     start TIMES
 *
 * Prints the median in ns. It starts itself, with "nothing" for TIMES.
 */
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { TIMES_MAX = 10000 };

extern char **environ;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* @return 0: it could not be started */
static uint64_t run_nothing(const char *program)
{
    char name[] = "start", nothing[] = "nothing", *words[] = { name, nothing, NULL };
    const uint64_t start = now();
    pid_t pid;

    if (posix_spawn(&pid, program, NULL, NULL, words, environ) != 0 || waitpid(pid, NULL, 0) != pid)
        return 0;
    return now() - start;
}

static int order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const unsigned long times = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    static uint64_t taken[TIMES_MAX];

    if (argc == 2 && strcmp(argv[1], "nothing") == 0)
        return 0;
    if (times == 0 || times > TIMES_MAX) {
        fprintf(stderr, "usage: start TIMES (at most %d)\n", TIMES_MAX);
        return 2;
    }
    for (unsigned long i = 0; i < times; i++)
        if ((taken[i] = run_nothing("/proc/self/exe")) == 0)
            return 1;
    qsort(taken, times, sizeof *taken, order);
    printf("%" PRIu64 "\n", taken[times / 2]);
    return 0;
}
