#include "profiler/collector/heap/heap_drain.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/collector/heap/heap_records.h"
#include "profiler/collector/heap/heap_replay.h"
#include "profiler/collector/rings/drain.h"

/*
 * slack: the longest time that a store to `busy` takes to reach this processor. patience: a thread stopped while busy
 * delays the others no longer than this. Its event is then late, which changes the life of no block.
 */
static const uint64_t slack_ns = 20000, patience_ns = 50000000, second_ns = 1000000000;
static const uint64_t least_pause_ns = 1000000, most_pause_ns = 10000000;
static const uint64_t resident_every_ns = 100000000;

static bool heap_open(struct sfb_recorder_drain *d,
                      const struct sfb_recorder_drain_options *options)
{
    enum { BLOCKS_MAX = 1 << 24 };
    struct sfb_recorder_heap *h = calloc(1, sizeof *h);

    if (!h)
        return false;
    h->heap = (struct sfb_heap){
        .writer = d->writer,
        .rate = d->shared->heap_rate,
        .flags = (options->aggregate ? SFB_HEAP_AGGREGATE : 0U) |
                 (d->shared->heap_flags & SFB_SHARED_HEAP_MMAP ? SFB_HEAP_MMAP : 0U),
        .temporary_within =
            options->temporary_within != 0 && options->temporary_within <= SFB_HEAP_WITHIN_MOST
                ? options->temporary_within
                : SFB_HEAP_WITHIN_DEFAULT,
        .blocks_max = BLOCKS_MAX,
    };
    h->snapshot_ns = options->snapshot_ns;
    h->next_snapshot = d->begun + options->snapshot_ns;
    sfb_heap_clock_open(&h->heap.clock, d->shared->counter != 0, d->shared->counter_start);
    h->pause_ns = most_pause_ns;
    sfb_heap_intake_open(&h->intake, d->shared, d->ring_bytes, options->own_thread);
    d->heap = h;
    return true;
}

static void heap_look(struct sfb_recorder_drain *d)
{
    struct sfb_recorder_heap *h = d->heap;

    h->now = sfb_heap_clock_look(&h->heap.clock);
    h->slack = sfb_heap_clock_counts(&h->heap.clock, slack_ns);
    h->patience = sfb_heap_clock_counts(&h->heap.clock, patience_ns);
    h->latest = h->now + sfb_heap_clock_counts(&h->heap.clock, second_ns);
    h->most = h->read = 0;
    h->seen = __atomic_load_n(&h->intake.woken, __ATOMIC_ACQUIRE);
}

static bool heap_process_begin(struct sfb_recorder_drain *d, uint32_t slot, uint64_t time)
{
    d->process[slot].heap = sfb_heap_process_open(&d->heap->heap, d->process[slot].id, time);
    d->process[slot].horizon = 0;
    return d->process[slot].heap != NULL;
}

static bool heap_ring_begin(struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_heap_ring *ring = calloc(1, sizeof *ring);

    d->ring[slot].heap = ring;
    if (!ring)
        return false;
    ring->thread.id = d->ring[slot].id;
    sfb_heap_intake_begin(&d->heap->intake, slot);
    return true;
}

/* --- merging ------------------------------------------------------------------------------------- */

static void sink(struct sfb_recorder_heap *h, uint32_t at)
{
    const uint64_t time = h->queue[at].time;
    const uint32_t slot = h->queue[at].slot;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= h->queued)
            break;
        if (child + 1 < h->queued && h->queue[child + 1].time < h->queue[child].time)
            child++;
        if (h->queue[child].time >= time)
            break;
        h->queue[at] = h->queue[child];
        at = child;
    }
    h->queue[at].time = time;
    h->queue[at].slot = slot;
}

/* The table of live blocks is larger than the caches. */
static void fetch_ahead(struct sfb_recorder_drain *d, uint32_t slot)
{
    const struct sfb_heap_process *process = d->process[d->ring[slot].process].heap;
    uint64_t pointer;

    while (sfb_heap_ring_ahead(d->ring[slot].heap, &pointer))
        sfb_heap_table_prefetch(&process->table, pointer);
}

/* Reads a ring's records up to a time. @return whether a later record follows; its time is in *next */
static bool read_up_to(struct sfb_recorder_drain *d, uint32_t slot, uint64_t limit, uint64_t *next)
{
    struct sfb_heap_ring *ring = d->ring[slot].heap;
    const uint64_t before = ring->position;
    struct sfb_heap_record record;
    bool more;

    while ((more = sfb_heap_records_peek(d, slot, &record)) && record.time <= limit && !d->failed) {
        fetch_ahead(d, slot);
        sfb_heap_records_take(d, slot, &record);
        sfb_heap_ring_pass(ring, &record);
    }
    d->heap->read += (size_t)(ring->position - before);
    if (more)
        *next = record.time;
    return more;
}

static void merge(struct sfb_recorder_drain *d, uint64_t horizon)
{
    struct sfb_recorder_heap *h = d->heap;

    for (uint32_t i = h->queued / 2; i-- > 0;)
        sink(h, i);
    while (h->queued > 0 && h->queue[0].time <= horizon && !d->failed) {
        uint64_t limit = horizon;

        for (uint32_t child = 1; child <= 2 && child < h->queued; child++)
            if (h->queue[child].time < limit)
                limit = h->queue[child].time;
        if (!read_up_to(d, h->queue[0].slot, limit, &h->queue[0].time))
            h->queue[0] = h->queue[--h->queued];
        sink(h, 0);
        sfb_recorder_put(d, h->heap.status);
    }
}

/* Time of the thread's last published record: its next one is not older. */
static uint64_t last_published(const struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_heap_ring view = *d->ring[slot].heap;
    struct sfb_heap_record record;

    while (sfb_heap_ring_peek(&view, &record, d->ring_bytes, d->heap->latest))
        sfb_heap_ring_pass(&view, &record);
    return view.time;
}

/* Whether a busy thread has delayed the others only briefly so far. @param horizon  set by that thread */
static bool is_patient(struct sfb_recorder_drain *d, uint32_t process, uint64_t horizon)
{
    struct sfb_recorder_process *own = &d->process[process];

    if (horizon != own->held_at || own->held_since == 0) {
        own->held_at = horizon;
        own->held_since = d->heap->now;
    }
    return d->heap->now - own->held_since < d->heap->patience;
}

/* The agent counts such a library before it comes. */
static bool is_bypassed(const struct sfb_recorder_drain *d, uint32_t process)
{
    return __atomic_load_n(&d->processes[process].lost[SFB_LOSS_DEEPBIND], __ATOMIC_RELAXED) != 0;
}

/*
 * Copies the records that a process's threads have published, and replays them.
 *
 * @param last  no thread will publish more: the horizon does not count
 */
static void read_process(struct sfb_recorder_drain *d, uint32_t process, bool last)
{
    struct sfb_recorder_heap *h = d->heap;
    struct sfb_recorder_process *own = &d->process[process];
    const uint64_t all = h->now > h->slack ? h->now - h->slack : 0;
    uint64_t horizon = all;
    struct sfb_heap_record record;

    own->heap->bypassed = is_bypassed(d, process);
    h->queued = 0;
    for (uint32_t i = 0; i < d->ring_end; i++) {
        uint64_t published;
        bool busy, whole;

        if (d->ring[i].id == 0 || d->ring[i].process != process)
            continue;
        busy = sfb_heap_intake_is_busy(&h->intake, i);
        h->read += sfb_heap_ring_fill(d->ring[i].heap, &h->intake, i, &h->most, &whole);
        published = busy || !whole ? last_published(d, i) : horizon;
        if (published < horizon)
            horizon = published;
        if (sfb_heap_records_peek(d, i, &record)) {
            h->queue[h->queued].time = record.time;
            h->queue[h->queued++].slot = i;
        }
    }
    if (horizon < all && !is_patient(d, process, horizon))
        horizon = all;
    if (horizon < own->horizon)
        horizon = own->horizon;
    merge(d, last ? UINT64_MAX : horizon);
    sfb_heap_intake_read(&h->intake, h->read);
    h->read = 0;
    own->horizon = horizon;
    if (own->heap->happened && own->heap->next_state <= horizon)
        sfb_heap_process_pass(own->heap, horizon);
    sfb_recorder_put(d, h->heap.status);
}

static void heap_read(struct sfb_recorder_drain *d)
{
    for (uint32_t i = 0; i < d->process_end && !d->failed; i++)
        if (d->process[i].id != 0)
            read_process(d, i, false);
}

static void heap_read_last(struct sfb_recorder_drain *d, uint32_t process)
{
    heap_look(d);
    if (!d->failed)
        read_process(d, process, true);
}

static bool heap_ring_is_empty(const struct sfb_recorder_drain *d, uint32_t slot)
{
    if (!sfb_heap_intake_is_empty(&d->heap->intake, slot))
        return false;
    return d->ring[slot].heap->from == d->ring[slot].heap->size;
}

/* --- ends ---------------------------------------------------------------------------------------- */

static void heap_ring_end(struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_recorder_ring *own = &d->ring[slot];

    sfb_heap_records_tell_wrong(d, slot);
    sfb_heap_thread_ended(d->process[own->process].heap, &own->heap->thread);
    sfb_heap_intake_read(&d->heap->intake, own->heap->size - own->heap->from);
    sfb_heap_intake_end(&d->heap->intake, slot);
    sfb_heap_ring_free(own->heap);
    free(own->heap);
    own->heap = NULL;
}

static void report(struct sfb_recorder_drain *d, uint32_t slot, enum sfb_recording_loss reason,
                   uint64_t count, uint64_t *reported, const char *text)
{
    if (count == *reported)
        return;
    sfb_recorder_lost(d, d->process[slot].id, 0, reason, count - *reported, text);
    *reported = count;
}

/* What the agent has heard of its allocator. The program may have overwritten it. */
static void look_at_allocator(const struct sfb_recorder_drain *d, uint32_t slot)
{
    const struct sfb_shared_process *process = &d->processes[slot];
    struct sfb_heap_process *heap = d->process[slot].heap;
    const uint64_t used = __atomic_load_n(&process->heap_used, __ATOMIC_RELAXED),
                   held = __atomic_load_n(&process->heap_held, __ATOMIC_RELAXED);

    if (held >> 47 != 0 || used > held)
        return;
    heap->allocator_used = used;
    heap->allocator_held = held;
}

static void report_losses(struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_heap_process *heap = d->process[slot].heap;

    report(d, slot, SFB_LOSS_HEAP_EVENTS, heap->dropped, &heap->dropped_reported,
           "the recorder has no room for more blocks or sites");
    report(d, slot, SFB_LOSS_HEAP_UNSEEN, heap->unseen, &heap->unseen_reported, "");
}

/* Adds the sums of a process to the totals. Processes peak at different times, so the sum of peaks is an upper bound. */
static void count(const struct sfb_heap_process *heap, struct sfb_recorder_heap_totals *out)
{
    const bool sampled = sfb_heap_is_sampled(heap);

    out->allocated_blocks += sfb_heap_blocks(heap->allocated.blocks, sampled);
    out->allocated_bytes += heap->allocated.bytes;
    out->live_blocks += sfb_heap_blocks(heap->live.blocks, sampled);
    out->live_bytes += heap->live.bytes;
    out->peak_bytes += heap->peak.bytes;
    out->peaks += heap->peak.bytes > 0;
    out->unknown_frees += heap->unknown;
    out->conflicts += heap->conflicts;
}

static void heap_process_end(struct sfb_recorder_drain *d, uint32_t slot, uint64_t time)
{
    struct sfb_recorder_process *own = &d->process[slot];
    uint64_t last;

    look_at_allocator(d, slot);
    sfb_heap_replay_end(own->heap);
    /* Destructors free blocks after the agent's own has noted the end: the sums must not be older than these events. */
    last = sfb_heap_clock_ns(&d->heap->heap.clock, own->heap->time);
    sfb_heap_process_snapshot(own->heap, time > last ? time : last);
    report_losses(d, slot);
    count(own->heap, &d->totals.heap);
    sfb_recorder_put(d, d->heap->heap.status);
    sfb_heap_process_close(own->heap);
    own->heap = NULL;
}

static void heap_totals(const struct sfb_recorder_drain *d, struct sfb_recorder_heap_totals *out)
{
    *out = d->totals.heap;
    for (uint32_t i = 0; i < d->process_end; i++)
        if (d->process[i].id != 0)
            count(d->process[i].heap, out);
    out->sampled = d->heap->heap.rate != 0;
}

/* --- periodic work ------------------------------------------------------------------------------- */

/* A process that has just ended keeps its last known value. */
static void look_at_memory(struct sfb_recorder_drain *d, uint32_t slot)
{
    const struct sfb_recorder_watcher *watcher = &d->watcher;
    const uint64_t bytes =
        watcher->process_resident ? watcher->process_resident(watcher->with, slot) : 0;

    if (bytes != 0)
        d->process[slot].heap->resident = bytes;
}

static void heap_tend(struct sfb_recorder_drain *d)
{
    struct sfb_recorder_heap *h = d->heap;
    const bool looks = d->now >= h->next_resident;
    const bool snapshot = h->snapshot_ns != 0 && d->now >= h->next_snapshot;

    if (looks)
        h->next_resident = d->now + resident_every_ns;
    if (snapshot)
        h->next_snapshot = d->now + h->snapshot_ns;
    for (uint32_t i = 0; looks && i < d->ring_end; i++)
        if (d->ring[i].id != 0)
            sfb_heap_records_tell_wrong(d, i);
    for (uint32_t i = 0; i < d->process_end && !d->failed; i++) {
        struct sfb_recorder_process *own = &d->process[i];

        if (own->id == 0)
            continue;
        look_at_allocator(d, i);
        if (looks || own->heap->resident == 0)
            look_at_memory(d, i);
        if (looks)
            report_losses(d, i);
        if (snapshot)
            sfb_heap_process_snapshot(own->heap, sfb_heap_clock_ns(&h->heap.clock, own->horizon));
    }
    sfb_recorder_put(d, h->heap.status);
}

/* Events are in our memory by now: a late reading costs only more of it. */
static bool heap_wait(const struct sfb_recorder_drain *d)
{
    struct sfb_recorder_heap *h = d->heap;
    const uint64_t shorter = h->pause_ns / 2, longer = 2 * h->pause_ns;

    if (h->most > d->ring_bytes / 4)
        h->pause_ns = shorter > least_pause_ns ? shorter : least_pause_ns;
    else if (h->most < d->ring_bytes / 16)
        h->pause_ns = longer < most_pause_ns ? longer : most_pause_ns;
    return sfb_heap_intake_wait(&h->intake, h->seen, h->pause_ns);
}

static void heap_close(struct sfb_recorder_drain *d)
{
    if (!d->heap)
        return;
    for (uint32_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        if (d->ring[i].heap) {
            sfb_heap_ring_free(d->ring[i].heap);
            free(d->ring[i].heap);
        }
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        sfb_heap_process_close(d->process[i].heap);
    sfb_heap_intake_close(&d->heap->intake);
    free(d->heap);
}

const struct sfb_recorder_heap_calls sfb_recorder_heap_drain = {
    .open = heap_open,
    .look = heap_look,
    .process_begin = heap_process_begin,
    .ring_begin = heap_ring_begin,
    .read = heap_read,
    .read_last = heap_read_last,
    .ring_is_empty = heap_ring_is_empty,
    .ring_end = heap_ring_end,
    .process_end = heap_process_end,
    .tend = heap_tend,
    .totals = heap_totals,
    .wait = heap_wait,
    .close = heap_close,
};
