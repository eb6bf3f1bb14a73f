/* The drain's own state of slots, which no program can change. */
#ifndef PROFILER_COLLECTOR_RINGS_SLOTS_H
#define PROFILER_COLLECTOR_RINGS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/collector/rings/codes.h"
#include "profiler/collector/rings/cpu_sums.h"
#include "profiler/collector/rings/dictionary.h"
#include "profiler/collector/rings/recorded_ids.h"
#include "profiler/collector/rings/watch.h"

struct sfb_recorder_ring {
    uint32_t id;      /* of the thread in the recording; 0: free */
    uint32_t process; /* slot */
    uint32_t tid;
    uint32_t engine;
    uint64_t tail; /* bytes read */
    uint64_t cpu_start;
    uint64_t weight;               /* of all samples read */
    uint64_t paused;               /* CPU time while the recording was paused, at least */
    uint64_t pause_cpu;            /* its CPU time when the pause began; 0: unknown */
    bool cpu_known;                /* at its end: all of its CPU time is */
    uint64_t lost[SFB_LOSS_COUNT]; /* counted so far */
    struct sfb_heap_ring *heap;    /* NULL: CPU time is recorded */
    unsigned
        stalls; /* passes without any progress while the stack of the record at tail was missing */
};

struct sfb_recorder_process {
    uint32_t id; /* 0: free */
    uint32_t pid, parent_pid;
    bool watched; /* its exit is reported */
    bool gone;    /* its exit was reported */
    uint32_t end, status;
    uint64_t cpu_start;
    uint64_t gone_cpu;      /* since its very beginning; 0: unknown */
    uint64_t cpu;           /* used while recorded, known at its end; 0: unknown */
    uint64_t cpu_elsewhere; /* recorded another way, before its agent came */
    uint64_t cpu_unseen;    /* the rest of that time */
    uint64_t accounted;     /* weights and rests of its threads, and what is paused */
    uint64_t paused;        /* of ended threads: CPU time while the recording was paused */
    uint64_t in_pauses;     /* of all threads, ended or not: in the pauses that are over */
    uint64_t pause_cpu;     /* since its very beginning, when the pause of now began; 0: unknown */
    uint64_t threads_cpu;   /* of ended threads */
    bool threads_unknown;   /* the CPU time of a thread is unknown */
    int64_t clock_ahead;    /* of ours, in ns */
    uint32_t modules;       /* lists taken */
    uint64_t lost[SFB_LOSS_COUNT];
    struct sfb_recorder_dictionary stacks;
    struct sfb_recorder_codes codes;
    struct sfb_heap_process *heap; /* NULL: CPU time is recorded */
    uint64_t horizon;              /* heap: read up to this time */
    uint64_t held_at, held_since;  /* a busy thread has held it there since then */
};

struct sfb_recorder_drain;
struct sfb_recorder_drain_options;
struct sfb_recorder_heap;
struct sfb_heap_ring;
struct sfb_heap_process;

/* Functions for recording the heap, defined in heap_drain.c: linked for the heap only. */
struct sfb_recorder_heap_calls {
    bool (*open)(struct sfb_recorder_drain *drain,
                 const struct sfb_recorder_drain_options *options);

    /* Begins a look, before new processes and rings are looked for. */
    void (*look)(struct sfb_recorder_drain *drain);

    /* A process, a thread has begun. @return false: no memory */
    bool (*process_begin)(struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time);
    bool (*ring_begin)(struct sfb_recorder_drain *drain, uint32_t slot);

    /* Reads the rings of all processes up to their horizons. */
    void (*read)(struct sfb_recorder_drain *drain);

    /* Reads all that a process's threads have left, at its end or the recording's. */
    void (*read_last)(struct sfb_recorder_drain *drain, uint32_t process);

    /* Whether all of a ring was read. */
    bool (*ring_is_empty)(const struct sfb_recorder_drain *drain, uint32_t slot);
    void (*ring_end)(struct sfb_recorder_drain *drain, uint32_t slot);

    /* Writes the last sums of a process. */
    void (*process_end)(struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time);

    /* Reads resident memory, writes snapshots, and reports dropped events. */
    void (*tend)(struct sfb_recorder_drain *drain);

    /* Sums of all processes so far. */
    void (*totals)(const struct sfb_recorder_drain *drain, struct sfb_recorder_heap_totals *out);

    /* Waits for the next look. @return whether a signal arrived */
    bool (*wait)(const struct sfb_recorder_drain *drain);
    void (*close)(struct sfb_recorder_drain *drain);
};

/* A place for a mark that a program has taken, and has not filled yet. */
struct sfb_recorder_claim {
    uint64_t since;   /* 0: it is not claimed */
    uint32_t process; /* slot, as its place says */
    uint32_t id;      /* of the process there; 0: not seen yet */
};

struct sfb_recorder_drain {
    struct sfb_shared *shared;
    struct sfb_shared_process *processes; /* in `shared` */
    uint32_t ring_bytes;                  /* as the session began */
    int fd;
    uint32_t first_pid;
    bool first_began;
    bool no_children;
    bool elsewhere;
    bool failed;
    bool finishing;
    bool paused;
    bool started;        /* it was not paused, if only for a moment */
    uint64_t processors; /* of this machine: a process may use them all */
    struct sfb_recording_writer *writer;
    struct sfb_recorder_watcher watcher;

    struct sfb_recorder_process process[SFB_SHARED_PROCESS_MAX];
    struct sfb_recorder_codes_kept codes_kept;
    struct sfb_recorder_ring ring[SFB_SHARED_RING_MAX];
    uint32_t process_end, ring_end; /* after the last slot ever taken */
    struct sfb_recorder_ids own_ids, *ids;

    const struct sfb_recorder_heap_calls *heap_calls; /* NULL: CPU time is recorded */
    struct sfb_recorder_heap *heap;
    uint32_t wake; /* its value at the last look at all slots */
    uint64_t begun, scanned, reported, now;
    uint64_t lost[SFB_LOSS_COUNT]; /* of the shared header, counted so far */
    struct sfb_recorder_claim mark_claim[SFB_SHARED_MARKS];
    struct sfb_recorder_totals totals;
    struct sfb_recorder_unrecorded unrecorded;
    uint8_t record[SFB_SHARED_RING_MOST]; /* a copy, for checking */
    uint8_t modules[SFB_SHARED_MODULES];
    struct sfb_recording_code_frame calls[SFB_SHARED_CALLS_MAX];
};

static inline struct sfb_shared_ring *sfb_recorder_shared_ring(
    const struct sfb_recorder_drain *drain, uint32_t slot)
{
    return sfb_shared_ring(drain->shared, drain->ring_bytes, slot);
}

/*
 * The next slot that may be in use: reading a slot never written would allocate its page.
 *
 * @param first   offset of slot 0 in the memory
 * @param stride  bytes from one slot to the next
 * @param from    first slot to check
 * @param count   of slots
 * @return count: no such slot
 */
uint32_t sfb_recorder_slot_written(const struct sfb_recorder_drain *drain, size_t first,
                                   size_t stride, uint32_t from, uint32_t count);

/* A slot is free: agents look for the next one there. */
static inline void sfb_recorder_slot_freed(uint32_t *hint, uint32_t slot)
{
    if (slot < __atomic_load_n(hint, __ATOMIC_RELAXED))
        __atomic_store_n(hint, slot, __ATOMIC_RELAXED);
}

/* CLOCK_MONOTONIC, in ns. */
uint64_t sfb_recorder_now(void);

/* Converts a time written by the process of a slot to our clock. */
uint64_t sfb_recorder_time(const struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time);

/* Notes the status of a write. @return whether writing can go on */
bool sfb_recorder_put(struct sfb_recorder_drain *drain, enum sfb_status status);

/* Whether a thread can have so much CPU time: at most the time that has passed. */
bool sfb_recorder_is_cpu(const struct sfb_recorder_drain *drain, uint64_t cpu_ns);

/* Whether all threads of a process together can, each on a processor of its own. */
bool sfb_recorder_is_process_cpu(const struct sfb_recorder_drain *drain, uint64_t cpu_ns);

/* Writes the losses newly counted in the shared memory, and remembers the counts. */
void sfb_recorder_losses(struct sfb_recorder_drain *drain, const uint64_t *shared,
                         uint64_t *counted, uint32_t process, uint32_t thread);

/* Writes a new thread, or its new name. */
void sfb_recorder_put_thread(struct sfb_recorder_drain *drain, uint32_t slot, uint64_t time,
                             const char *name);

/* Writes one loss. */
void sfb_recorder_lost(struct sfb_recorder_drain *drain, uint32_t process, uint32_t thread,
                       enum sfb_recording_loss reason, uint64_t count, const char *text);

#endif
