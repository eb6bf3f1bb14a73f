/* A session of the heap whose memory a test writes: no agent, no process. And what a recording of it says. */
#ifndef HEAP_DRAIN_MADE_SESSION_H
#define HEAP_DRAIN_MADE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/collector/rings/drain.h"
#include "profiler/protocol/shared.h"

enum { MADE_PID = 4711, MADE_SITES = 4096, MADE_EVENTS = 1 << 21 };

struct made_options {
    uint64_t rate;
    bool aggregate;
    uint64_t snapshot_ns;
    uint64_t max_size;
    uint32_t temporary_within;
    bool own_thread; /* rings are emptied as they fill */
};

extern struct sfb_shared *made_shared;
extern struct sfb_recorder_drain *made_drain;

/* Times that a test writes are ns since an instant that is two seconds before this call. */
void made_session_begin(const struct made_options *options);

/* This instant, as times that a test writes. */
uint64_t made_now(void);

void made_process(uint32_t slot);
struct sfb_shared_process *made_shared_process(uint32_t slot);
void made_thread(uint32_t slot, uint32_t process);
void made_thread_ends(uint32_t ring);
struct sfb_shared_ring *made_ring(uint32_t ring);

/* Appends a record that is not published yet; a PAD where it needs one. */
void made_record(uint32_t ring, uint64_t time, uint32_t kind, const uint64_t *words, size_t count);

/* Each publishes what was written. */
void made_publish(uint32_t ring);
void made_stack_record(uint32_t ring, uint64_t time, uint64_t hash);
void made_stack_with_calls(uint32_t ring, uint64_t time, uint64_t hash,
                           const struct sfb_shared_call *calls, size_t count);
void made_alloc(uint32_t ring, uint64_t time, uint64_t pointer, uint64_t size, uint64_t hash);
void made_free(uint32_t ring, uint64_t time, uint64_t pointer);

/* How many bytes have room in a ring. */
uint64_t made_room(uint32_t ring);

/* What a recording says. Sites by their ids. */
struct made_heap {
    struct sfb_recording_health health;
    struct sfb_recording_heap_site site[MADE_SITES];
    struct sfb_recording_heap_totals totals[MADE_SITES];
    uint32_t sites, totals_count; /* records of sums */
    struct sfb_recording_heap_event events[MADE_EVENTS];
    uint64_t event_count;
    struct sfb_recording_heap_state state; /* the last one */
    uint64_t states;
    struct sfb_recording_heap heap; /* the last one */
    uint32_t heaps, stacks;
    uint64_t lost[SFB_LOSS_COUNT];
    uint64_t loss_records;
    char why[256]; /* of the last loss */
};

/* Ends the session. @return to be freed */
struct made_heap *made_session_end(void);

/* Sums over all sites. */
struct made_sums {
    uint64_t allocated, allocated_bytes, live, live_bytes, peak, peak_bytes, temporary;
    uint64_t elsewhere, reallocated;
};

struct made_sums made_sums_of(const struct made_heap *heap);

/*
 * Replays the events of a process: fails where a pair is freed that does not live, and compares what there is at the end,
 * and at the largest total, with the sums of each site.
 */
void made_replay(const struct made_heap *heap);

#endif
