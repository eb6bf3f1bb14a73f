/* A drain's state for the heap, shared by the processes of a session. */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_SESSION_H
#define PROFILER_COLLECTOR_HEAP_HEAP_SESSION_H

#include "profiler/collector/heap/heap_ring.h"
#include "profiler/collector/rings/slots.h"

struct sfb_recorder_heap {
    struct sfb_heap heap;
    uint64_t now, slack, patience, latest; /* in counts, at this look */
    uint64_t snapshot_ns;                  /* between two snapshots; 0: no snapshots */
    uint64_t next_snapshot, next_resident; /* in ns */
    size_t read;                           /* bytes at this look */
    size_t most;                           /* most bytes of a ring at once */
    uint64_t pause_ns;
    uint32_t seen; /* wake-ups of the intake by agents */
    struct sfb_heap_intake intake;
    struct {
        uint64_t time;
        uint32_t slot;
    } queue[SFB_SHARED_RING_MAX]; /* rings by the time of their next record: a binary heap */
    uint32_t queued;
};

#endif
