/*
 * What the profilers of profiler/bench/compared/run look at: a tree that is sorted by qsort() and summed by recursion, some forty
 * frames deep, without frame pointers.
 *
 *     work [MS]   for so long by the process's CPU time
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 40, LEAVES = 256 };

static unsigned numbers[LEAVES];

static long cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int by_value(const void *a, const void *b)
{
    const unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;

    return (one > other) - (one < other);
}

__attribute__((noinline)) static unsigned leaf(unsigned seed)
{
    unsigned sum = 0;

    for (int i = 0; i < LEAVES; i++)
        numbers[i] = seed = seed * 1664525 + 1013904223;
    qsort(numbers, LEAVES, sizeof *numbers, by_value);
    for (int i = 0; i < LEAVES; i += 16)
        sum += numbers[i];
    return sum;
}

__attribute__((noinline)) static unsigned descend(unsigned depth, unsigned seed)
{
    if (depth == 0)
        return leaf(seed);
    return descend(depth - 1, seed + depth) ^ depth; /* not the last call: it keeps its frame */
}

int main(int argc, char **argv)
{
    const long ms = argc > 1 ? atol(argv[1]) : 1000;
    unsigned sum = 0;

    /* The clock is looked at seldom: a look from outside would find most often that. */
    while (cpu_ms() < ms)
        for (int i = 0; i < 64; i++)
            sum += descend(DEPTH, sum);
    printf("%u\n", sum);
    return 0;
}
