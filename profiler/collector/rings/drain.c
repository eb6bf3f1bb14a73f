#include "profiler/collector/rings/drain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/collector/rings/module_lists.h"
#include "profiler/collector/rings/process.h"
#include "profiler/collector/rings/ring_reader.h"

#define ACQUIRE(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

static const uint64_t second_ns = 1000000000;

/* Includes processors that are offline. */
static uint64_t count_processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_CONF);

    return count > 1 ? (uint64_t)count : 1;
}

enum sfb_status sfb_recorder_drain_open(struct sfb_recorder_drain **out,
                                        const struct sfb_recorder_drain_options *options)
{
    struct sfb_recorder_drain *d = calloc(1, sizeof *d);
    uint8_t *memory = (uint8_t *)options->shared;

    if (!d)
        return SFB_NO_RESOURCE;
    d->shared = options->shared;
    d->processes = (struct sfb_shared_process *)(void *)(memory + SFB_SHARED_PROCESSES_AT);
    d->ring_bytes = options->shared->ring_bytes;
    d->fd = options->fd;
    d->first_pid = options->first_pid;
    d->writer = options->writer;
    d->ids = options->ids ? options->ids : &d->own_ids;
    d->watcher = options->watcher;
    d->no_children = options->no_children;
    d->elsewhere = options->elsewhere;
    d->processors = count_processors();
    d->begun = d->now = d->reported = sfb_recorder_now();
    if (options->shared->mode == SFB_SHARED_HEAP)
        d->heap_calls = options->heap;
    if (d->heap_calls && !d->heap_calls->open(d, options)) {
        free(d);
        return SFB_NO_RESOURCE;
    }
    d->started = !options->paused;
    *out = d;
    return options->paused ? sfb_recorder_drain_pause(d, true) : SFB_OK;
}

enum sfb_status sfb_recorder_drain_pause(struct sfb_recorder_drain *d, bool paused)
{
    const struct sfb_recording_pause event = { .time = sfb_recorder_now(), .paused = paused };

    if (!d->heap_calls)
        sfb_recorder_rings_pause(d, paused);
    d->paused = paused;
    d->started |= !paused;
    __atomic_store_n(&d->shared->paused,
                     !paused      ? SFB_SHARED_RUNS
                     : d->started ? SFB_SHARED_PAUSED
                                  : SFB_SHARED_NOT_STARTED,
                     __ATOMIC_RELAXED);
    return sfb_recorder_put(d, sfb_recording_put_pause(d->writer, &event)) ? SFB_OK
                                                                           : SFB_NO_RESOURCE;
}

/* Extends the range of slots to read. A slot that is not FREE is taken by an agent. */
static void look_at_all(struct sfb_recorder_drain *d)
{
    for (uint32_t i = d->process_end;; i++) {
        i = sfb_recorder_slot_written(d, SFB_SHARED_PROCESSES_AT, sizeof *d->processes, i,
                                      SFB_SHARED_PROCESS_MAX);
        if (i == SFB_SHARED_PROCESS_MAX)
            break;
        if (ACQUIRE(d->processes[i].state) != SFB_SLOT_FREE)
            d->process_end = i + 1;
    }
    d->scanned = d->now;
}

/* In the order of their beginnings: after an exec the earlier process may have the higher slot. */
static void begin_processes(struct sfb_recorder_drain *d)
{
    bool tried[SFB_SHARED_PROCESS_MAX] = { false };

    for (;;) {
        uint32_t first = SFB_SHARED_PROCESS_MAX;

        for (uint32_t i = 0; i < d->process_end; i++)
            if (d->process[i].id == 0 && !tried[i] &&
                ACQUIRE(d->processes[i].state) != SFB_SLOT_FREE &&
                (first == SFB_SHARED_PROCESS_MAX ||
                 ACQUIRE(d->processes[i].start) < ACQUIRE(d->processes[first].start)))
                first = i;
        if (first == SFB_SHARED_PROCESS_MAX)
            return;
        tried[first] = true;
        sfb_recorder_process_begin(d, first);
    }
}

/* Reading a slot's page allocates it: all slots are read only when an agent reports a new one. */
static void begin_new(struct sfb_recorder_drain *d)
{
    const uint32_t wake = ACQUIRE(d->shared->wake);
    bool all = false;

    if (wake != d->wake || d->finishing || d->now - d->scanned > second_ns) {
        d->wake = wake;
        look_at_all(d);
        all = true;
    }
    begin_processes(d);
    sfb_recorder_rings_begin(d, all);
}

/*
 * exit() ends the rings of all threads, while one of them may be in its handler: its ring is reused only once that thread
 * is gone. A watched process that has reported its exit ends all its rings later, with itself.
 */
static bool may_write(const struct sfb_recorder_drain *d, uint32_t ring)
{
    const struct sfb_recorder_ring *own = &d->ring[ring];

    return (d->process[own->process].watched && ACQUIRE(d->processes[own->process].end) != 0) ||
           (d->watcher.thread_lives &&
            d->watcher.thread_lives(d->watcher.with, own->process, own->tid));
}

/* --- marks ----------------------------------------------------------------------------------------- */

/*
 * Whether the process that claimed a mark has ended. One that is stopped may go on, and write it. Not at once: the place says
 * that process a moment after the claim.
 */
static bool is_left(struct sfb_recorder_drain *d, uint32_t i)
{
    const uint32_t process = __atomic_load_n(&d->shared->marks[i].process, __ATOMIC_RELAXED),
                   id = process < SFB_SHARED_PROCESS_MAX ? d->process[process].id : 0;
    struct sfb_recorder_claim *claim = &d->mark_claim[i];

    if (claim->since == 0 || claim->process != process)
        *claim = (struct sfb_recorder_claim){ .since = d->now, .process = process };
    if (claim->id == 0)
        claim->id = id;
    if (d->now - claim->since <= 10 * second_ns)
        return false;
    if (claim->id != 0)
        return claim->id != id;
    return process >= SFB_SHARED_PROCESS_MAX ||
           ACQUIRE(d->processes[process].state) == SFB_SLOT_FREE ||
           ACQUIRE(d->processes[process].state) == SFB_SLOT_ENDED;
}

static void put_mark(struct sfb_recorder_drain *d, const struct sfb_shared_mark *shared)
{
    const uint32_t process = __atomic_load_n(&shared->process, __ATOMIC_RELAXED);
    char name[SFB_SHARED_MARK_NAME + 1] = "";
    struct sfb_recording_mark mark = { .name = name };

    memcpy(name, shared->name, SFB_SHARED_MARK_NAME);
    mark.time = __atomic_load_n(&shared->time, __ATOMIC_RELAXED);
    if (process < SFB_SHARED_PROCESS_MAX)
        mark.time = sfb_recorder_time(d, process, mark.time);
    if (mark.time < d->begun || mark.time > d->now)
        mark.time = d->now;
    if (name[0] != '\0' && sfb_recorder_put(d, sfb_recording_put_mark(d->writer, &mark)))
        d->totals.marks++;
}

static void take_marks(struct sfb_recorder_drain *d)
{
    for (uint32_t i = 0; i < SFB_SHARED_MARKS; i++) {
        struct sfb_shared_mark *shared = &d->shared->marks[i];
        uint32_t state = ACQUIRE(shared->state);

        if (state == SFB_SLOT_LIVE)
            put_mark(d, shared);
        if (state != SFB_SLOT_CLAIMED)
            d->mark_claim[i].since = 0;
        if (state != SFB_SLOT_FREE && (state != SFB_SLOT_CLAIMED || is_left(d, i)))
            __atomic_compare_exchange_n(&shared->state, &state, SFB_SLOT_FREE, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}

/* Whether all of a ring was read. */
static bool is_empty(const struct sfb_recorder_drain *d, uint32_t ring)
{
    return d->heap_calls ? d->heap_calls->ring_is_empty(d, ring)
                         : d->ring[ring].tail == ACQUIRE(sfb_recorder_shared_ring(d, ring)->head);
}

/* @param ended  per ring, read before its records: no more records can follow */
static void end_threads(struct sfb_recorder_drain *d, const bool *ended)
{
    for (uint32_t i = 0; i < d->ring_end; i++)
        if (d->ring[i].id != 0 && ended[i] && is_empty(d, i) && !may_write(d, i))
            sfb_recorder_ring_end(d, i);
}

static void end_processes(struct sfb_recorder_drain *d)
{
    for (uint32_t i = 0; i < d->process_end; i++) {
        struct sfb_recorder_process *p = &d->process[i];

        if (p->id == 0)
            continue;
        if (d->finishing && !p->gone)
            p->end = SFB_PROCESS_LEFT;
        if (p->gone || d->finishing ||
            (!p->watched && ACQUIRE(d->processes[i].state) == SFB_SLOT_ENDED))
            sfb_recorder_process_end(d, i);
        else
            sfb_recorder_modules_take(d, i);
    }
}

static void count_losses(struct sfb_recorder_drain *d)
{
    sfb_recorder_losses(d, d->shared->lost, d->lost, 0, 0);
    for (uint32_t i = 0; i < d->process_end; i++)
        if (d->process[i].id != 0)
            sfb_recorder_losses(d, d->processes[i].lost, d->process[i].lost, d->process[i].id, 0);
    for (uint32_t i = 0; i < d->ring_end; i++)
        if (d->ring[i].id != 0)
            sfb_recorder_losses(d, sfb_recorder_shared_ring(d, i)->lost, d->ring[i].lost,
                                d->process[d->ring[i].process].id, d->ring[i].id);
    d->reported = d->now;
}

enum sfb_status sfb_recorder_drain(struct sfb_recorder_drain *d)
{
    bool ended[SFB_SHARED_RING_MAX] = { false };

    /* At the end, exits can still be written if only the file's size limit was reached. */
    if (d->failed && !d->finishing)
        return SFB_NO_RESOURCE;
    d->now = sfb_recorder_now();
    if (d->heap_calls)
        d->heap_calls->look(d);
    if (!d->failed)
        begin_new(d);
    for (uint32_t i = 0; i < d->ring_end; i++)
        ended[i] =
            d->ring[i].id != 0 && ACQUIRE(sfb_recorder_shared_ring(d, i)->state) == SFB_SLOT_ENDED;
    if (d->heap_calls)
        d->heap_calls->read(d);
    else
        sfb_recorder_rings_read(d, SFB_SHARED_PROCESS_MAX);
    end_threads(d, ended);
    take_marks(d);
    end_processes(d);
    if (d->heap_calls && !d->finishing)
        d->heap_calls->tend(d);
    if (d->finishing || d->now - d->reported > second_ns)
        count_losses(d);
    return d->failed ? SFB_NO_RESOURCE : SFB_OK;
}

enum sfb_status sfb_recorder_drain_finish(struct sfb_recorder_drain *d)
{
    __atomic_store_n(&d->shared->ended, 1, __ATOMIC_RELEASE);
    d->finishing = true;
    return sfb_recorder_drain(d);
}

void sfb_recorder_drain_ended(struct sfb_recorder_drain *d, uint32_t slot, uint32_t end,
                              uint32_t status, uint64_t cpu_ns)
{
    struct sfb_recorder_process *p = &d->process[slot];

    if (p->id == 0 || p->gone)
        return;
    p->gone = true;
    p->end = end;
    p->status = status;
    p->gone_cpu = cpu_ns;
}

void sfb_recorder_drain_lost(struct sfb_recorder_drain *d, uint32_t process,
                             enum sfb_recording_loss reason, uint64_t count, const char *text)
{
    sfb_recorder_lost(d, process, 0, reason, count, text);
}

void sfb_recorder_drain_totals(const struct sfb_recorder_drain *d, struct sfb_recorder_totals *out)
{
    *out = d->totals;
    if (d->heap_calls)
        d->heap_calls->totals(d, &out->heap);
}

bool sfb_recorder_drain_wait(const struct sfb_recorder_drain *d)
{
    return d->heap_calls->wait(d);
}

void sfb_recorder_drain_close(struct sfb_recorder_drain *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        sfb_recorder_dictionary_free(&d->process[i].stacks);
        sfb_recorder_codes_free(&d->process[i].codes, &d->codes_kept);
    }
    if (d->heap_calls)
        d->heap_calls->close(d);
    free(d);
}
