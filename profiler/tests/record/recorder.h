/*
 * As much of a recorder as the tests of the agent need: it shares the memory, starts a program with the agent in it,
 * reads the rings until all have ended, and keeps what it has read. It trusts nothing either: bytes that contradict
 * themselves fail the test.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/protocol/shared.h"

enum { PROCESSES_MAX = 64, THREADS_MAX = 4096, STACKS_MAX = 16384, LISTS_MAX = 64 };

struct recorded_process {
    uint32_t pid, parent_pid, how;
    int parent; /* index; -1: none */
    uint64_t start, cpu_start, end, cpu_end;
    uint64_t lost[SFB_LOSS_COUNT];
    char program[256], arguments[256]; /* words separated by blanks */
    uint32_t list_count;               /* of modules */
    struct recorded_list {
        uint64_t time;
        uint8_t *map;
        size_t size;
    } list[LISTS_MAX];
    bool ended; /* by itself */
};

struct recorded_thread {
    int process; /* index */
    uint32_t tid, engine;
    char name[16], last_name[16];
    uint64_t start, end, cpu_start, cpu_end, weight, samples,
        whole; /* stacks that reached their end */
    uint64_t lost[SFB_LOSS_COUNT];
    uint64_t by_engine[8];
    bool ended;
};

struct recorded_stack {
    int process;
    uint64_t hash, weight, samples;
    uint32_t modules; /* of its last sample */
    uint8_t *cbf;
    size_t size;
};

struct recorded {
    int status; /* of wait() */
    char *out;  /* what the program wrote to stdout */
    size_t process_count, thread_count, stack_count;
    struct recorded_process process[PROCESSES_MAX];
    struct recorded_thread thread[THREADS_MAX];
    struct recorded_stack stack[STACKS_MAX];
    uint64_t lost[SFB_LOSS_COUNT];
};

struct record_how {
    uint32_t rate_hz; /* 0: 997 */
    uint32_t engines; /* 0: TIMER and SAMPLER */
    uint32_t flags;
    bool by_socket;                          /* not by /proc */
    bool no_agent;                           /* the same without it */
    bool do_not_read;                        /* rings fill up */
    bool gone;                               /* nobody is there */
    const char *preload;                     /* before the agent */
    const char *preload_behind;              /* whose constructors run before the agent's */
    bool dies;                               /* when the agent has come */
    void (*look)(struct sfb_shared *shared); /* at each turn */
};

/* Runs the program of the tests with these words, separated by blanks. To be freed with recorded_free(). */
struct recorded *record(const struct record_how *how, const char *words);
void recorded_free(struct recorded *recorded);

/* Sums over all threads of a process, or of all processes (-1). */
struct recorded_sum {
    uint64_t samples, weight, cpu, whole, threads;
    uint64_t lost; /* for all reasons */
} recorded_sum(const struct recorded *recorded, int process);

#endif
