/*
 * Functions of known work, in user code and in system calls: each counts the CPU time that its thread
 * took in it, and the program prints the sums. What a profiler says of them has to agree.
 *
 *     work MODE THREADS MILLISECONDS
 *
 *     user    functions of 1, 2, 4 and 8 parts of work
 *     system  the same in read()
 *     bursts  a thread that sleeps to the kernel's tick, runs for half a period, and sleeps again, beside
 *             one that does not
 *     short   threads of 0.1 to 50 ms, one after the other, each for one of the four functions
 *
 * Prints "NAME NANOSECONDS" for each function, and for the process: from main()'s first line to its last.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/compiler.h"

enum { FUNCTIONS = 4, UNIT_NS = 100000, TICK_NS = 4000000, BURST_NS = 1500000 };

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static atomic_uint_least64_t spent[FUNCTIONS], in_bursts, beside_bursts;
static int zero;
static volatile uint64_t sink;

/* One function each, so that a stack tells them apart; none of them is a tail call. */
#define WORK(name, body)                                                                           \
    NOINLINE static void name(uint64_t ns)                                                         \
    {                                                                                              \
        const uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;                               \
                                                                                                   \
        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {                                          \
            body                                                                                   \
        }                                                                                          \
        sink++;                                                                                    \
    }

#define BURN                                                                                       \
    for (unsigned i = 0; i < 20000; i++)                                                           \
        sink += i;
#define READ                                                                                       \
    static _Thread_local char to[1 << 16];                                                         \
    if (read(zero, to, sizeof to) < 0)                                                             \
        abort();

WORK(user_1, BURN)
WORK(user_2, BURN)
WORK(user_4, BURN)
WORK(user_8, BURN)
WORK(system_1, READ)
WORK(system_2, READ)
WORK(system_4, READ)
WORK(system_8, READ)
WORK(burst, BURN)
WORK(steady, BURN)

typedef void work_fn(uint64_t);
static work_fn *const user[] = { user_1, user_2, user_4, user_8 };
static work_fn *const in_system[] = { system_1, system_2, system_4, system_8 };
static work_fn *const *functions = user;
static const char *mode;
static uint64_t deadline;

static void run(work_fn *f, uint64_t ns, atomic_uint_least64_t *sum)
{
    const uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    f(ns);
    atomic_fetch_add(sum, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
}

/* Parts of any length: work that keeps time with the samples would be seen always, or never. */
static void *in_turn(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;

    while (clock_ns(CLOCK_MONOTONIC) < deadline)
        for (unsigned i = 0; i < FUNCTIONS; i++)
            run(functions[i], (1U << i) * (UNIT_NS / 2 + (uint64_t)rand_r(&seed) % UNIT_NS),
                &spent[i]);
    return NULL;
}

static void *bursts(void *arg)
{
    (void)arg;
    while (clock_ns(CLOCK_MONOTONIC) < deadline) {
        const uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
        const uint64_t next = now + TICK_NS + TICK_NS / 8;
        const struct timespec until = { (time_t)(next / 1000000000U), (long)(next % 1000000000U) };

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        run(burst, BURST_NS, &in_bursts);
    }
    return NULL;
}

static void *beside(void *arg)
{
    (void)arg;
    while (clock_ns(CLOCK_MONOTONIC) < deadline)
        run(steady, BURST_NS, &beside_bursts);
    return NULL;
}

struct life {
    unsigned function;
    uint64_t ns;
};

static void *one_life(void *arg)
{
    const struct life *life = arg;

    run(functions[life->function], life->ns, &spent[life->function]);
    return NULL;
}

static void *lives(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;

    for (unsigned i = 0; clock_ns(CLOCK_MONOTONIC) < deadline; i++) {
        /* From 0.1 to 50 ms; short ones come more often. */
        struct life life = { i % FUNCTIONS, 100000U << (rand_r(&seed) % 10) };
        pthread_t thread;

        if (life.ns > 50000000)
            life.ns = 50000000;
        if (pthread_create(&thread, NULL, one_life, &life) != 0)
            abort();
        pthread_join(thread, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const uint64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    pthread_t thread[256];
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

    if (argc != 4 || threads == 0 || threads > 256) {
        fprintf(stderr, "usage: work user|system|bursts|short THREADS MILLISECONDS\n");
        return 2;
    }
    mode = argv[1];
    zero = open("/dev/zero", O_RDONLY);
    deadline = clock_ns(CLOCK_MONOTONIC) + 1000000U * (uint64_t)atoi(argv[3]);
    if (strcmp(mode, "system") == 0)
        functions = in_system;
    for (unsigned i = 0; i < threads; i++) {
        void *(*what)(void *) = strcmp(mode, "short") == 0    ? lives
                                : strcmp(mode, "bursts") != 0 ? in_turn
                                : i % 2 == 0                  ? bursts
                                                              : beside;

        if (pthread_create(&thread[i], NULL, what, (void *)(uintptr_t)(i + 1)) != 0)
            return 1;
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    if (strcmp(mode, "bursts") == 0)
        printf("burst %llu\nsteady %llu\n", (unsigned long long)in_bursts,
               (unsigned long long)beside_bursts);
    else
        for (unsigned i = 0; i < FUNCTIONS; i++)
            printf("%s_%u %llu\n", functions == user ? "user" : "system", 1U << i,
                   (unsigned long long)spent[i]);
    printf("process %llu\n", (unsigned long long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start));
    return 0;
}
