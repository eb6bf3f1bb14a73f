/* What the drain knows of slots, in its own memory: nothing of it can be changed by a program. */
#ifndef RECORDER_SLOTS_H
#define RECORDER_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/cpu_sums.h"
#include "recorder/dictionary.h"
#include "recorder/watch.h"

struct sfb_recorder_ring {
    uint32_t id;      /* of the thread in the recording; 0: nobody has the slot */
    uint32_t process; /* slot */
    uint32_t tid;
    uint32_t engine;
    uint64_t tail; /* bytes read */
    uint64_t cpu_start;
    uint64_t weight;               /* of all samples read */
    uint64_t lost[SFB_LOSS_COUNT]; /* counted so far */
    struct sfb_heap_ring *heap;    /* NULL: CPU time is recorded */
    unsigned
        stalls; /* turns in which the stack of the record at tail was missing, and nothing moved */
};

struct sfb_recorder_process {
    uint32_t id; /* 0: nobody has the slot */
    uint32_t pid, parent_pid;
    bool watched; /* its end will be told */
    bool gone;    /* it was */
    uint32_t end, status;
    uint64_t cpu_start;
    uint64_t gone_cpu;    /* from its very beginning; 0: not known */
    uint64_t cpu;         /* what it used here, known at its end; 0: not known */
    uint64_t accounted;   /* weights and rests of its threads */
    uint64_t threads_cpu; /* of those that have ended */
    bool threads_unknown; /* there was one whose CPU time nobody knows */
    int64_t clock_ahead;  /* of ours, in ns */
    uint32_t modules;     /* lists taken */
    uint64_t lost[SFB_LOSS_COUNT];
    struct sfb_recorder_dictionary stacks;
    struct sfb_heap_process *heap; /* NULL: CPU time is recorded */
    uint64_t horizon;              /* of the heap: up to this time all is read */
    uint64_t held_at, held_since;  /* a thread that is busy has kept it there since then */
};

struct sfb_recorder_drain;
struct sfb_recorder_drain_options;
struct sfb_recorder_heap;
struct sfb_heap_ring;
struct sfb_heap_process;

/*
 * What is done where the heap is recorded: heap_drain.c has it. Who never records the heap does not link it.
 */
struct sfb_recorder_heap_calls {
    bool (*open)(struct sfb_recorder_drain *drain,
                 const struct sfb_recorder_drain_options *options);

    /* How a look begins: before new processes and rings are looked for. */
    void (*look)(struct sfb_recorder_drain *drain);

    /* A process, a thread has begun. @return false: no memory */
    bool (*process_begin)(struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time);
    bool (*ring_begin)(struct sfb_recorder_drain *drain, uint32_t slot);

    /* Reads the rings of all processes up to their horizons. */
    void (*read)(struct sfb_recorder_drain *drain);

    /* Reads all that the threads of a process have left: it has ended, or the recording does. */
    void (*read_last)(struct sfb_recorder_drain *drain, uint32_t process);

    /* Whether all that a ring had was read. */
    bool (*ring_is_empty)(const struct sfb_recorder_drain *drain, uint32_t slot);
    void (*ring_end)(struct sfb_recorder_drain *drain, uint32_t slot);

    /* Writes the last sums of a process. */
    void (*process_end)(struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time);

    /* Resident memory, snapshots, what there was no room for. */
    void (*tend)(struct sfb_recorder_drain *drain);

    /* What is known of all processes so far. */
    void (*totals)(const struct sfb_recorder_drain *drain, struct sfb_recorder_heap_totals *out);

    /* Waits for the next look. @return whether a signal came */
    bool (*wait)(const struct sfb_recorder_drain *drain);
    void (*close)(struct sfb_recorder_drain *drain);
};

struct sfb_recorder_drain {
    struct sfb_shared *shared;
    struct sfb_shared_process *processes; /* in it */
    uint32_t ring_bytes;                  /* as the session began */
    int fd;
    uint32_t first_pid;
    bool first_began;
    bool no_children;
    bool failed;
    bool finishing;
    uint64_t processors; /* of this machine: a process may use all of them */
    struct sfb_recording_writer *writer;
    struct sfb_recorder_watcher watcher;

    struct sfb_recorder_process process[SFB_SHARED_PROCESS_MAX];
    struct sfb_recorder_ring ring[SFB_SHARED_RING_MAX];
    uint32_t process_end, ring_end;     /* behind the last slot that was ever taken */
    uint32_t next_process, next_thread; /* ids */

    const struct sfb_recorder_heap_calls *heap_calls; /* NULL: CPU time is recorded */
    struct sfb_recorder_heap *heap;
    uint32_t wake; /* when all slots were looked at */
    uint64_t begun, scanned, reported, now;
    uint64_t lost[SFB_LOSS_COUNT]; /* of the shared header, counted so far */
    struct sfb_recorder_totals totals;
    struct sfb_recorder_unrecorded unrecorded;
    uint8_t record[SFB_SHARED_RING_MOST]; /* the copy that is judged */
    uint8_t modules[SFB_SHARED_MODULES];
};

static inline struct sfb_shared_ring *sfb_recorder_shared_ring(
    const struct sfb_recorder_drain *drain, uint32_t slot)
{
    return sfb_shared_ring(drain->shared, drain->ring_bytes, slot);
}

/* CLOCK_MONOTONIC, in ns. */
uint64_t sfb_recorder_now(void);

/* A time that the process of a slot has written, by our clock. */
uint64_t sfb_recorder_time(const struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time);

/* Notes what a writer said. @return whether it can go on */
bool sfb_recorder_put(struct sfb_recorder_drain *drain, enum sfb_status status);

/* Whether an amount of CPU time can be a thread's: none has more of it than time has passed. */
bool sfb_recorder_is_cpu(const struct sfb_recorder_drain *drain, uint64_t cpu_ns);

/* Whether it can be that of all threads of a process, each on a processor of its own. */
bool sfb_recorder_is_process_cpu(const struct sfb_recorder_drain *drain, uint64_t cpu_ns);

/* Writes losses that were counted in the shared memory since the last time, and remembers them. */
void sfb_recorder_losses(struct sfb_recorder_drain *drain, const uint64_t *shared,
                         uint64_t *counted, uint32_t process, uint32_t thread);

/* A thread that is new, or has another name now. */
void sfb_recorder_put_thread(struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time,
                             const char *name);

/* One of them. */
void sfb_recorder_lost(struct sfb_recorder_drain *drain, uint32_t process, uint32_t thread,
                       enum sfb_recording_loss reason, uint64_t count, const char *text);

#endif
