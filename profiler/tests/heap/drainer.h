/*
 * As much of a recorder as the tests of the heap's hooks need: it shares the memory, starts a program with the agent in
 * it, keeps each record, and brings them into the order of their times. Records that contradict themselves fail the test.
 */
#ifndef HEAP_DRAINER_H
#define HEAP_DRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/protocol/shared.h"

struct heap_event {
    uint64_t time, pointer, size, slack, hash;
    uint32_t kind;   /* enum sfb_shared_heap_record: ALLOC and FREE of all kinds, REALLOC_FAILED */
    uint32_t thread; /* index */
    uint64_t order;  /* in which it was read */
};

struct heap_stack {
    uint64_t hash;
    uint32_t process, end;
    uint32_t sent; /* how often */
    uint32_t frames;
    uint64_t frame[64]; /* the innermost ones */
};

struct heap_thread {
    uint32_t process; /* index */
    uint32_t tid;
    bool ended; /* said so itself */
    char name[17];
    uint64_t lost[SFB_LOSS_COUNT];
};

struct heap_process {
    uint32_t pid, how;
    int parent; /* index; -1: none */
    uint64_t end;
    uint32_t modules; /* bytes of its first list of modules */
    bool has_program; /* in it */
    uint64_t lost[SFB_LOSS_COUNT];
};

enum { HEAP_PROCESSES = 32, HEAP_THREADS = 2048, HEAP_STACKS = 16384 };

struct heap_log {
    int status; /* of wait() */
    char *out;  /* what the program wrote to stdout */
    size_t event_count, event_room, stack_count;
    uint32_t process_count, thread_count;
    struct heap_event *event; /* by time */
    struct heap_process process[HEAP_PROCESSES];
    struct heap_thread thread[HEAP_THREADS];
    struct heap_stack stack[HEAP_STACKS];
};

/* When the rings are read. */
enum heap_reading {
    HEAP_READ_AT_ONCE,
    HEAP_READ_AFTER_WAITING, /* once a thread has waited for room, for three times as long as it may */
    HEAP_READ_AT_THE_END
};

struct heap_how {
    uint64_t rate;
    uint32_t flags; /* enum sfb_shared_flags */
    uint32_t
        heap_flags; /* enum sfb_shared_heap_flags; HEAP_WAIT is added, unless events are to be lost */
    enum heap_reading reading;
    bool clock;         /* CLOCK_MONOTONIC instead of the processor's counter */
    bool gone;          /* the recorder dies when the agent has come */
    const char *behind; /* preloaded behind the agent */
    const char *seed;   /* SFB_HEAP_SEED */
};

/*
 * Runs a program with these words, separated by blanks; the first is its path. To be freed with heap_log_free().
 */
struct heap_log *heap_record(const struct heap_how *how, const char *words);
void heap_log_free(struct heap_log *log);

/* What is executed next has these libraries before its own; also in an emulator, by execve(). */
void heap_preload(const char *libraries);

/* What a replay of a process's events finds. */
struct heap_replay {
    uint64_t allocated, freed, live; /* blocks */
    uint64_t allocated_bytes, live_bytes;
    uint64_t unknown;   /* frees of what was never allocated */
    uint64_t conflicts; /* allocations of what was not freed */
    uint64_t late;      /* events that came to stand before the one that they follow */
};

struct heap_replay heap_replay(const struct heap_log *log, uint32_t process);

/* Events of a kind, with a size (that of ALLOC; SIZE_MAX: any), in all threads. */
uint64_t heap_count(const struct heap_log *log, uint32_t kind, uint64_t size);

/* The first event of a kind with a size. NULL: there is none */
const struct heap_event *heap_find(const struct heap_log *log, uint32_t kind, uint64_t size);

/* The first event of a kind of an address, behind another event. NULL: there is none */
const struct heap_event *heap_find_behind(const struct heap_log *log,
                                          const struct heap_event *event, uint32_t kind);

const struct heap_stack *heap_stack(const struct heap_log *log, const struct heap_event *event);

/* Losses of a reason, of all processes and threads. */
uint64_t heap_lost(const struct heap_log *log, enum sfb_recording_loss reason);

bool heap_exited(const struct heap_log *log, int status);

/* The program exited so, and nothing was lost. */
void heap_expect_good(const struct heap_log *log, int status);

#endif
