/*
 * A program in phases, for pauses of a recording. In each one a thread computes, the first thread waits for a line on stdin, and
 * blocks are allocated. It logs what it did: "NAME CPU-NS WAITED-NS", once a phase has had enough CPU time.
 *
 * Each phase sets a mark of its name, where it is recorded by an agent. Built as LINKED, it records itself: phased FILE. Then it closes
 * all descriptors that it does not know.
 *
 * A phase's blocks are kept; the phase "paused" frees every second one of "recorded", and moves another one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sframe_backtrace_record.h"

enum { BLOCKS = 1000, PHASE_NS = 120000000 };

static const char *const names[] = { "before", "enter1", "recorded", "leave1",
                                     "paused", "enter2", "again",    "leave2" };
enum { PHASES = sizeof names / sizeof *names, RECORDED = 2, PAUSED = 4 };

static atomic_uint phase;
static atomic_ullong spent[PHASES];
static unsigned char *blocks[PHASES][BLOCKS];

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One function for each phase: what was recorded shows by name. */
#define PHASE(name, number)                                                                        \
    static __attribute__((noinline)) void spin_##name(void)                                        \
    {                                                                                              \
        const uint64_t begin = now(CLOCK_THREAD_CPUTIME_ID);                                       \
        volatile unsigned sum = 0;                                                                 \
                                                                                                   \
        while (atomic_load(&phase) == (number)) {                                                  \
            for (unsigned i = 0; i < 20000; i++)                                                   \
                sum += i;                                                                          \
            atomic_store(&spent[number], now(CLOCK_THREAD_CPUTIME_ID) - begin);                    \
        }                                                                                          \
    }                                                                                              \
    static __attribute__((noinline)) void alloc_##name(void)                                       \
    {                                                                                              \
        for (unsigned i = 0; i < BLOCKS; i++) {                                                    \
            blocks[number][i] = malloc(100 + (number));                                            \
            if (!blocks[number][i])                                                                \
                abort();                                                                           \
        }                                                                                          \
    }                                                                                              \
    static __attribute__((noinline)) ssize_t wait_##name(char *out)                                \
    {                                                                                              \
        const ssize_t size = read(STDIN_FILENO, out, 1);                                           \
                                                                                                   \
        __asm__ volatile("" : : : "memory");                                                       \
        return size;                                                                               \
    }

PHASE(before, 0)
PHASE(enter1, 1)
PHASE(recorded, 2)
PHASE(leave1, 3)
PHASE(paused, 4)
PHASE(enter2, 5)
PHASE(again, 6)
PHASE(leave2, 7)

static void (*const spins[])(void) = { spin_before, spin_enter1, spin_recorded, spin_leave1,
                                       spin_paused, spin_enter2, spin_again,    spin_leave2 };
static void (*const allocs[])(void) = { alloc_before, alloc_enter1, alloc_recorded, alloc_leave1,
                                        alloc_paused, alloc_enter2, alloc_again,    alloc_leave2 };
static ssize_t (*const waits[])(char *) = { wait_before, wait_enter1, wait_recorded, wait_leave1,
                                            wait_paused, wait_enter2, wait_again,    wait_leave2 };

static void *compute(void *unused)
{
    for (unsigned i; (i = atomic_load(&phase)) < PHASES;)
        spins[i]();
    return unused;
}

static void free_recorded(void)
{
    for (unsigned i = 0; i < BLOCKS; i += 2) {
        free(blocks[RECORDED][i]);
        blocks[RECORDED][i] = NULL;
    }
    blocks[RECORDED][1] = realloc(blocks[RECORDED][1], 5000);
}

static volatile sig_atomic_t marks;

static void on_signal(int unused)
{
    (void)unused;
    marks += sframe_backtrace_record_mark("handler") == SFB_OK;
}

/* More than the recorder can take at once: those that find no place are refused. */
static void mark_often(void)
{
    if (!sframe_backtrace_record_mark)
        return;
    if (signal(SIGUSR1, on_signal) == SIG_ERR || raise(SIGUSR1) != 0)
        abort();
    for (unsigned i = 0; i < 200; i++) {
        const enum sfb_status status = sframe_backtrace_record_mark("many");

        if (status != SFB_OK && status != SFB_NO_RESOURCE)
            abort();
        marks += status == SFB_OK;
    }
}

static void mark(const char *name)
{
    char long_name[SFRAME_BACKTRACE_RECORD_MARK_MAX + 2] = "";

    memset(long_name, 'x', sizeof long_name - 1);
    if (!sframe_backtrace_record_mark)
        return;
    marks++;
    if (sframe_backtrace_record_mark(name) != SFB_OK ||
        sframe_backtrace_record_mark("") != SFB_BAD_ARGUMENT ||
        sframe_backtrace_record_mark(NULL) != SFB_BAD_ARGUMENT ||
        sframe_backtrace_record_mark(long_name) != SFB_BAD_ARGUMENT)
        abort();
}

#ifdef LINKED
static void record(const char *file)
{
    struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;

    if (sframe_backtrace_record_mark("too early") != SFB_BAD_ARGUMENT)
        abort();
    options.fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (sframe_backtrace_record_start(&options) != SFB_OK)
        abort();
    for (int fd = 3; fd < 1024; fd++)
        if (fd != options.fd)
            close(fd);
}
#endif

int main(int argc, char **argv)
{
    uint64_t waited[PHASES];
    pthread_t thread;
    char byte;

#ifdef LINKED
    if (argc != 2)
        return 2;
    record(argv[1]);
#else
    (void)argc;
    (void)argv;
#endif
    if (pthread_create(&thread, NULL, compute, NULL) != 0)
        return 1;
    for (unsigned i = 0; i < PHASES; i++) {
        uint64_t begin;

        allocs[i]();
        if (i == PAUSED)
            free_recorded();
        while (atomic_load(&spent[i]) < PHASE_NS)
            usleep(1000);
        mark(names[i]);
        printf("reached %s\n", names[i]);
        fflush(stdout);
        begin = now(CLOCK_MONOTONIC);
        if (waits[i](&byte) != 1)
            return 1;
        waited[i] = now(CLOCK_MONOTONIC) - begin;
        atomic_store(&phase, i + 1);
    }
    mark_often();
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < PHASES; i++)
        printf("%s %llu %llu\n", names[i], (unsigned long long)atomic_load(&spent[i]),
               (unsigned long long)waited[i]);
    printf("marks %d\n", (int)marks);
    return 0;
}
