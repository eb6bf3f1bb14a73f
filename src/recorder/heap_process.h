/*
 * The heap of a process, as its events tell it: what lives, who allocated it, and how it came to its peak.
 *
 *     heap_table.h    blocks that live
 *     heap_maps.h     mappings that are there
 *     heap_sites.h    who allocates, with sums
 *     heap_weight.h   what a block stands for
 *     heap_aside.h    events that contradict others
 *     heap_account.h  an allocation, a free: sums, and the event in the file
 *     heap_replay.h   events in their order
 *     heap_thread.h   events of a thread: what is temporary, what realloc() moves
 */
#ifndef RECORDER_HEAP_PROCESS_H
#define RECORDER_HEAP_PROCESS_H

#include "recorder/dictionary.h"
#include "recorder/heap_aside.h"
#include "recorder/heap_clock.h"
#include "recorder/heap_maps.h"
#include "recorder/heap_sites.h"
#include "recorder/heap_table.h"
#include "sfb/recording.h"

/* Of one recording: what its processes share. */
struct sfb_heap {
    struct sfb_recording_writer *writer;
    struct sfb_heap_clock clock;
    uint64_t rate;       /* mean bytes between two samples; 0: every event */
    uint32_t flags;      /* enum sfb_recording_heap_flags */
    uint32_t last_site;  /* id */
    uint64_t blocks_max; /* that live, of all processes */
    uint64_t blocks;
    uint64_t events;        /* allocations and frees so far */
    enum sfb_status status; /* the first that was not good: nothing is written any more */
};

struct sfb_heap_process {
    struct sfb_heap *heap;
    uint32_t id; /* in the recording */
    struct sfb_heap_table table;
    struct sfb_heap_maps maps;
    struct sfb_heap_sites sites;
    struct sfb_heap_aside aside;
    struct sfb_recorder_dictionary stacks; /* hash of a stack -> id */

    struct sfb_recording_heap_sum live, allocated, peak; /* blocks in units: heap_weight.h */
    uint64_t epoch;                                      /* peaks so far */
    uint64_t peak_time;
    uint64_t time;       /* of the last event */
    uint64_t next_state; /* time; 0: nothing has happened */
    uint64_t state_ns;   /* of the last state */
    uint64_t resident;
    uint64_t unknown, conflicts;
    uint64_t unplaced; /* blocks that there was no room to follow: not in any sum */
    uint64_t unplaced_told;
    bool happened; /* since the last state */
};

static inline bool sfb_heap_is_sampled(const struct sfb_heap_process *process)
{
    return process->heap->rate != 0;
}

/* Notes what a writer said. */
void sfb_heap_put(struct sfb_heap *heap, enum sfb_status status);

/* Begins the heap of a process that was introduced. @return NULL: no memory */
struct sfb_heap_process *sfb_heap_process_open(struct sfb_heap *heap, uint32_t id,
                                               uint64_t time_ns);

/* The site of a thread (id) and a stack. @return false: there is no room for it; nothing is known of the block */
bool sfb_heap_process_site(struct sfb_heap_process *process, uint32_t *site, uint32_t thread,
                           uint64_t hash, uint32_t kind);

/* Writes states of steps that have passed. To be called before what happened at a time is taken. */
void sfb_heap_process_pass(struct sfb_heap_process *process, uint64_t time);

/* Writes the sums of sites that have changed, and the state. */
void sfb_heap_process_snapshot(struct sfb_heap_process *process, uint64_t time_ns);

void sfb_heap_process_close(struct sfb_heap_process *process);

#endif
