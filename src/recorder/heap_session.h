/* A drain's part of the heap: what the processes of a session share. */
#ifndef RECORDER_HEAP_SESSION_H
#define RECORDER_HEAP_SESSION_H

#include "recorder/heap_ring.h"
#include "recorder/slots.h"

struct sfb_recorder_heap {
    struct sfb_heap heap;
    uint64_t now, slack, patience, latest; /* counts, as of this look */
    uint64_t snapshot_ns;                  /* between two; 0: none */
    uint64_t next_snapshot, next_resident; /* ns */
    size_t read;                           /* bytes at this look */
    size_t most;                           /* bytes that a ring had at once */
    uint64_t pause_ns;
    uint32_t seen; /* how often agents had woken the intake */
    struct sfb_heap_intake intake;
    struct {
        uint64_t time;
        uint32_t slot;
    } queue[SFB_SHARED_RING_MAX]; /* of rings, by the time of their next record: a binary heap */
    uint32_t queued;
};

#endif
