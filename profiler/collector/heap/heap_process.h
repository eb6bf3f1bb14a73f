/*
 * The heap of a process, rebuilt from its events: live blocks, allocating sites, and the peak.
 *
 *     heap_table.h     live blocks
 *     heap_maps.h      live mappings
 *     heap_sites.h     allocating sites, with sums
 *     heap_weight.h    what a sampled block stands for
 *     heap_deferred.h  events that contradict others
 *     heap_account.h   an allocation, a free: sums, and the event in the file
 *     heap_replay.h    events in their order
 *     heap_thread.h    events of a thread: temporary blocks, realloc()
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_PROCESS_H
#define PROFILER_COLLECTOR_HEAP_HEAP_PROCESS_H

#include "profiler/collector/heap/heap_clock.h"
#include "profiler/collector/heap/heap_deferred.h"
#include "profiler/collector/heap/heap_maps.h"
#include "profiler/collector/heap/heap_sites.h"
#include "profiler/collector/heap/heap_table.h"
#include "profiler/collector/rings/dictionary.h"
#include "sfb/recording.h"

/* A block is temporary if its thread frees it within so many of its events, from the next one on. */
enum { SFB_HEAP_WITHIN_DEFAULT = 8, SFB_HEAP_WITHIN_MOST = 64 };

/* State shared by the processes of a recording. */
struct sfb_heap {
    struct sfb_recording_writer *writer;
    struct sfb_heap_clock clock;
    uint64_t rate;             /* mean bytes between two samples; 0: every event */
    uint32_t flags;            /* enum sfb_recording_heap_flags */
    uint32_t temporary_within; /* events of its thread, from 1 */
    uint32_t last_site;        /* id */
    uint64_t blocks_max;       /* live ones, of all processes */
    uint64_t blocks;
    uint64_t events;        /* allocations and frees so far */
    enum sfb_status status; /* first failure: nothing is written any more */
};

struct sfb_heap_process {
    struct sfb_heap *heap;
    uint32_t id; /* in the recording */
    struct sfb_heap_table table;
    struct sfb_heap_maps maps;
    struct sfb_heap_sites sites;
    struct sfb_heap_deferred deferred;
    struct sfb_recorder_dictionary stacks; /* hash of a stack -> id */

    struct sfb_recording_heap_sum live, allocated, peak; /* blocks in units: heap_weight.h */
    uint64_t epoch;                                      /* counts peaks */
    uint64_t peak_time;
    uint64_t time;       /* of the last event */
    uint64_t next_state; /* time; 0: no event yet */
    uint64_t state_ns;   /* time of the last state */
    uint64_t resident;
    uint64_t allocator_used, allocator_held; /* held 0: unknown */
    uint64_t unknown, conflicts;
    uint64_t dropped; /* blocks not followed for lack of room: not in any sum */
    uint64_t dropped_reported;
    uint64_t unseen; /* events instead of unknown and conflicts, if bypassed */
    uint64_t unseen_reported;
    bool bypassed; /* modules bypass the agent: they allocate and free unseen */
    bool happened; /* an event since the last state */
};

static inline bool sfb_heap_is_sampled(const struct sfb_heap_process *process)
{
    return process->heap->rate != 0;
}

/* Notes the status of a write. */
void sfb_heap_put(struct sfb_heap *heap, enum sfb_status status);

/* Begins the heap of a process already written. @return NULL: no memory */
struct sfb_heap_process *sfb_heap_process_open(struct sfb_heap *heap, uint32_t id,
                                               uint64_t time_ns);

/* Finds or adds the site of a thread (id) and a stack. @return false: no room; the block is not followed */
bool sfb_heap_process_site(struct sfb_heap_process *process, uint32_t *site, uint32_t thread,
                           uint64_t hash, uint32_t kind);

/* Writes states for the steps that have passed. Called before an event of that time is accounted. */
void sfb_heap_process_pass(struct sfb_heap_process *process, uint64_t time);

/* Writes the changed sums of sites, and the state. */
void sfb_heap_process_snapshot(struct sfb_heap_process *process, uint64_t time_ns);

void sfb_heap_process_close(struct sfb_heap_process *process);

#endif
