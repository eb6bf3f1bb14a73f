/* Threads: blocks that go from one to the next, and what a thread does behind its end. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "profiler/tests/heap/program.h"

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): KEEP() hides what is freed */

#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer)::"memory")

/* --- round: each thread frees what the one before has allocated ------------------------------------ */

enum { QUEUE = 64, THREADS_MAX = 16 };

static struct queue {
    _Alignas(64) void *block[QUEUE];
    _Alignas(64) uint32_t put;
    _Alignas(64) uint32_t taken;
} queues[THREADS_MAX];

static int threads, times;

static void *go_round(void *number)
{
    const int own = (int)(intptr_t)number;
    struct queue *to = &queues[own], *from = &queues[(own + threads - 1) % threads];
    uint32_t put = 0, taken = 0;

    while (put < (uint32_t)times || taken < (uint32_t)times) {
        const uint32_t before = put + taken;

        if (put < (uint32_t)times && put - __atomic_load_n(&to->taken, __ATOMIC_ACQUIRE) < QUEUE) {
            to->block[put % QUEUE] = malloc(48);
            __atomic_store_n(&to->put, ++put, __ATOMIC_RELEASE);
        }
        if (taken < (uint32_t)times && taken != __atomic_load_n(&from->put, __ATOMIC_ACQUIRE)) {
            free(from->block[taken % QUEUE]);
            __atomic_store_n(&from->taken, ++taken, __ATOMIC_RELEASE);
        }
        if (put + taken == before)
            sched_yield();
    }
    return NULL;
}

void program_round(int thread_count, int time_count)
{
    pthread_t thread[THREADS_MAX];

    threads = thread_count;
    times = time_count;
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, go_round, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

/* --- threads: one after the other ----------------------------------------------------------------- */

static void *allocate_once(void *unused)
{
    char *block = malloc(777);

    KEEP(block);
    free(block);
    return unused;
}

void program_one_by_one(int count)
{
    pthread_t thread;

    for (int i = 0; i < count; i++) {
        pthread_create(&thread, NULL, allocate_once, NULL);
        pthread_join(thread, NULL);
    }
}

/* --- ends: destructors of all rounds allocate and free, and so do those of the process ------------ */

static pthread_key_t key;

static void on_thread_end(void *value)
{
    char *block = malloc(20000 + (size_t)(intptr_t)value);

    KEEP(block);
    free(block);
    if ((intptr_t)value < 3)
        pthread_setspecific(key, (void *)((intptr_t)value + 1));
}

static void *end_thread(void *unused)
{
    char *block = malloc(20100);

    KEEP(block);
    free(block);
    pthread_setspecific(key, (void *)(intptr_t)1);
    pthread_setname_np(pthread_self(), "renamed");
    return unused;
}

static void *last;

static void on_exit_of_program(void)
{
    char *block = malloc(20200);

    KEEP(block);
    free(block);
}

__attribute__((destructor)) static void destruct(void)
{
    if (last) {
        free(last);
        last = malloc(20301);
        KEEP(last);
        free(last);
    }
}

void program_ends(void)
{
    pthread_key_t first;
    pthread_t thread;

    pthread_key_create(&first, NULL);
    pthread_key_create(&key, on_thread_end);
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, end_thread, NULL);
        pthread_join(thread, NULL);
    }
    atexit(on_exit_of_program);
    last = malloc(20300);
}

/* --- signals: a handler allocates, in the middle of whatever -------------------------------------- */

static volatile uint32_t handled;

static void handle(int number)
{
    char *block = malloc(30001);

    (void)number;
    KEEP(block);
    free(block);
    handled++;
}

/* For an allocator that may be called in a handler. */
void program_signals(void)
{
    enum { SIGNALS = 2000 };
    const struct itimerval every = { { 0, 100 }, { 0, 100 } };
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    uint32_t pairs = 0;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    do {
        for (int i = 0; i < 1000; i++, pairs++) {
            char *block = malloc(30002);

            KEEP(block);
            free(block);
        }
    } while (handled < SIGNALS);
    signal(SIGALRM, SIG_IGN);
    printf("%u %u\n", handled, pairs);
}

/* More than the ring holds, at once. */
void program_full(int count)
{
    for (int i = 0; i < count; i++) {
        char *block = malloc(555);

        KEEP(block);
        free(block);
    }
}

/* NOLINTEND(clang-analyzer-unix.Malloc) */
