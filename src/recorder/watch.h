/* What stands beside a drain: who watches it, and what it counts. */
#ifndef RECORDER_WATCH_H
#define RECORDER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/recording.h"

/* What somebody beside it wants to know, and knows. Each function may be NULL. */
struct sfb_recorder_watcher {
    void *with;

    /*
     * A process has a slot, and there are others that have not ended and say the same number.
     *
     * @return the slot of the one that executed it; SFB_SHARED_PROCESS_MAX: none, they are of other namespaces
     */
    uint32_t (*process_before)(void *with, uint32_t slot, uint32_t pid);

    /* A process has a slot. @return whether sfb_recorder_drain_ended() will be called at its end */
    bool (*process_began)(void *with, uint32_t slot, uint32_t pid, uint32_t id);

    /* After that: how far its CLOCK_MONOTONIC is ahead of ours, in ns. */
    int64_t (*process_clock)(void *with, uint32_t slot);

    /* It ends: its last entry is written after this. */
    void (*process_ends)(void *with, uint32_t slot, uint32_t pid, uint32_t id);

    /* @param slot  of its process */
    void (*thread_began)(void *with, uint32_t ring, uint32_t slot, uint32_t tid);
    void (*thread_ended)(void *with, uint32_t ring);

    /* Whether a thread is there, whose ring has ended. */
    bool (*thread_lives)(void *with, uint32_t slot, uint32_t tid);

    /* The CPU time of a thread, from its very beginning, that did not say it at its end. @return false: not known */
    bool (*thread_cpu)(void *with, uint32_t ring, uint64_t *cpu_ns);

    /* The same of a process of which nobody has said it: one that runs on, or that its parent has waited for. */
    bool (*process_cpu)(void *with, uint32_t slot, uint64_t *cpu_ns);

    /* Its resident memory in bytes. @return 0: not known */
    uint64_t (*process_resident)(void *with, uint32_t slot);
};

/* Of the heap: estimates, where it is sampled. */
struct sfb_recorder_heap_totals {
    bool sampled;
    uint64_t allocated_blocks, allocated_bytes;
    uint64_t live_blocks, live_bytes; /* of processes that have ended, at their end */
    uint64_t peak_bytes;              /* the sum of those of all processes */
    uint32_t peaks;                   /* processes that have one */
    uint64_t unknown_frees, conflicts;
};

struct sfb_recorder_totals {
    uint64_t samples, weight;
    uint64_t cpu;      /* of processes that have ended, as far as it is known */
    uint64_t cpu_left; /* the part of it of processes that ran on when the recording ended */
    uint64_t lost[SFB_LOSS_COUNT];
    uint32_t processes;      /* begun */
    uint32_t processes_live; /* not ended */
    uint32_t threads;
    struct sfb_recorder_heap_totals heap;
};

#endif
