/*
 * What `remote/bench/outside` looks at: target SLEEPING RUNNING. So many threads of 21 frames that sleep, and that look at the
 * clock without a pause: a gap between two looks is time in which the thread did not run. For each line of stdin it prints
 * the gaps since the line before, in microseconds: their number, the median, the 99th percentile, the longest.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 15, GAPS_MAX = 1 << 16, GAP_NS = 5000 /* a tick of the clock takes less */ };

static sem_t there;
static volatile int sink;
static uint32_t gaps[GAPS_MAX]; /* ns */
static _Atomic uint32_t gap_count;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void add_gap(uint64_t ns)
{
    const uint32_t at = atomic_fetch_add(&gap_count, 1);

    if (at < GAPS_MAX)
        gaps[at] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static void run(void)
{
    for (uint64_t last = now();;) {
        const uint64_t time = now();

        if (time - last >= GAP_NS)
            add_gap(time - last);
        last = time;
    }
}

static void sleep_there(void)
{
    for (;;)
        poll(NULL, 0, -1);
}

static __attribute__((noinline)) void go_down(unsigned depth, void (*then)(void))
{
    if (depth > 0) {
        go_down(depth - 1, then);
    } else {
        sem_post(&there);
        then();
    }
    sink++;
}

static void *start_sleeping(void *unused)
{
    go_down(DEPTH, sleep_there);
    return unused;
}

static void *start_running(void *unused)
{
    go_down(DEPTH, run);
    return unused;
}

static void start(int count, void *(*thread_main)(void *))
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    for (int i = 0; i < count; i++)
        if (pthread_create(&thread, &small, thread_main, NULL) != 0)
            exit(2);
    for (int i = 0; i < count; i++)
        sem_wait(&there);
}

static int by_length(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void print_gaps(void)
{
    const uint32_t all = atomic_load(&gap_count), count = all < GAPS_MAX ? all : GAPS_MAX;
    const uint32_t median = count / 2, late = (uint32_t)((uint64_t)count * 99 / 100);

    qsort(gaps, count, sizeof *gaps, by_length);
    if (count == 0)
        puts("0 0 0 0");
    else
        printf("%u %.1f %.1f %.1f\n", all, gaps[median] / 1e3, gaps[late] / 1e3,
               gaps[count - 1] / 1e3);
    fflush(stdout);
    atomic_store(&gap_count, 0);
}

int main(int argc, char **argv)
{
    char byte;

    if (argc != 3)
        return 2;
    sem_init(&there, 0, 0);
    start((int)strtol(argv[1], NULL, 10), start_sleeping);
    start((int)strtol(argv[2], NULL, 10), start_running);
    puts("there");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) == 1)
        print_gaps();
    return 0;
}
