/* Callbacks of a drain's watcher, and the drain's totals. */
#ifndef PROFILER_COLLECTOR_RINGS_WATCH_H
#define PROFILER_COLLECTOR_RINGS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/recording.h"

/* Observer callbacks, each of which may be NULL: some inform the watcher, some ask it. */
struct sfb_recorder_watcher {
    void *with;

    /*
     * A new process has the pid of others that have not ended.
     *
     * @return the slot of the one that executed it; SFB_SHARED_PROCESS_MAX: the others are in other namespaces
     */
    uint32_t (*process_before)(void *with, uint32_t slot, uint32_t pid);

    /* A process is to begin at a time: what is recorded another way is to be written up to then. */
    void (*catch_up)(void *with, uint64_t time);

    /* @return CPU time that another way has recorded of the program that a process has executed, in ns */
    uint64_t (*executed_weight)(void *with, uint32_t slot);

    /* A process has a slot. @return whether its exit will be reported by sfb_recorder_drain_ended() */
    bool (*process_began)(void *with, uint32_t slot, uint32_t pid);

    /*
     * Called next. @return the id of a process that another way has recorded, and that goes on in this slot; 0: none
     *
     * @param weight_ns  written then: of the samples that it has
     */
    uint32_t (*process_continued)(void *with, uint32_t slot, uint64_t *weight_ns);

    /* The same of a thread. */
    uint32_t (*thread_continued)(void *with, uint32_t slot, uint32_t tid);

    /* The id of the process in a slot. */
    void (*process_named)(void *with, uint32_t slot, uint32_t id);

    /* Called next. @return ns that its CLOCK_MONOTONIC is ahead of ours */
    int64_t (*process_clock)(void *with, uint32_t slot);

    /* @return the id of a process that is recorded another way, by its pid here; 0: it is not */
    uint32_t (*process_elsewhere)(void *with, uint32_t pid);

    /* Called before the last entry of a process is written. */
    void (*process_ends)(void *with, uint32_t slot, uint32_t pid, uint32_t id);

    /* @param slot  of its process */
    void (*thread_began)(void *with, uint32_t ring, uint32_t slot, uint32_t tid);
    void (*thread_ended)(void *with, uint32_t ring);

    /* Whether the thread of an ended ring still exists. */
    bool (*thread_lives)(void *with, uint32_t slot, uint32_t tid);

    /* CPU time of a thread since its very beginning, if its agent did not report it. @return false: unknown */
    bool (*thread_cpu)(void *with, uint32_t ring, uint64_t *cpu_ns);

    /* The same of a thread that runs. */
    bool (*thread_cpu_now)(void *with, uint32_t ring, uint64_t *cpu_ns);

    /* The same for a process: one that runs on, or that its parent has reaped. */
    bool (*process_cpu)(void *with, uint32_t slot, uint64_t *cpu_ns);

    /* @return its resident memory in bytes; 0: unknown */
    uint64_t (*process_resident)(void *with, uint32_t slot);
};

/* Heap totals; estimates if sampled. */
struct sfb_recorder_heap_totals {
    bool sampled;
    uint64_t allocated_blocks, allocated_bytes;
    uint64_t live_blocks, live_bytes; /* of ended processes: at their ends */
    uint64_t peak_bytes;              /* sum over all processes */
    uint32_t peaks;                   /* number of processes with one */
    uint64_t unknown_frees, conflicts;
};

struct sfb_recorder_totals {
    uint64_t samples, weight;
    uint64_t waited;   /* ns of waits, where they are recorded */
    uint64_t cpu;      /* of ended processes, as far as known */
    uint64_t cpu_left; /* part of it: processes still running at the recording's end */
    uint64_t lost[SFB_LOSS_COUNT];
    uint32_t processes;      /* begun */
    uint32_t processes_live; /* not ended */
    uint32_t threads;
    uint32_t marks; /* that programs have set */
    struct sfb_recorder_heap_totals heap;
};

#endif
