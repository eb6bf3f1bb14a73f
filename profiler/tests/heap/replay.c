/* Questions to what was recorded. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "profiler/tests/heap/drainer.h"
#include "support/test.h"

/*
 * An address, by open addressing. The events of one alternate: one that stands before the event that it follows, by some
 * nanoseconds of two processors, waits for that.
 */
struct place {
    uint64_t pointer;
    uint64_t size;
    bool live, alloc_waits, free_waits;
    uint64_t waiting_size;
};

struct map {
    struct place *place;
    size_t size;
};

static struct place *at(const struct map *map, uint64_t pointer)
{
    size_t i = pointer * 0x9e3779b97f4a7c15u >> 32;

    for (;; i++) {
        struct place *p = &map->place[i % map->size];

        if (p->pointer == pointer || p->pointer == 0) {
            p->pointer = pointer;
            return p;
        }
    }
}

static void allocate(struct heap_replay *r, struct place *p, uint64_t size)
{
    r->allocated++;
    r->allocated_bytes += size;
    r->live++;
    r->live_bytes += size;
    p->live = true;
    p->size = size;
}

static void release(struct heap_replay *r, struct place *p)
{
    r->freed++;
    r->live--;
    r->live_bytes -= p->size;
    p->live = false;
}

static void on_alloc(struct heap_replay *r, struct place *p, uint64_t size)
{
    if (p->live) {
        r->conflicts += p->alloc_waits;
        p->alloc_waits = true;
        p->waiting_size = size;
        return;
    }
    allocate(r, p, size);
    if (p->free_waits) {
        p->free_waits = false;
        r->late++;
        release(r, p);
    }
}

static void on_free(struct heap_replay *r, struct place *p)
{
    if (!p->live) {
        r->unknown += p->free_waits;
        p->free_waits = true;
        return;
    }
    release(r, p);
    if (p->alloc_waits) {
        p->alloc_waits = false;
        r->late++;
        allocate(r, p, p->waiting_size);
    }
}

struct heap_replay heap_replay(const struct heap_log *log, uint32_t process)
{
    struct map map = { NULL, 2 * log->event_count + 16 };
    struct heap_replay r = { 0 };

    map.place = calloc(map.size, sizeof *map.place);
    cr_assert(map.place != NULL);
    for (size_t i = 0; i < log->event_count; i++) {
        const struct heap_event *e = &log->event[i];
        struct place *p;

        if (log->thread[e->thread].process != process || e->kind == SFB_HEAP_FREE_MMAP)
            continue;
        p = at(&map, e->pointer);
        if (e->kind == SFB_HEAP_REALLOC_FAILED) {
            r.freed--;
            r.live++;
            r.live_bytes += p->size;
            p->live = true;
        } else if (e->kind == SFB_HEAP_FREE || e->kind == SFB_HEAP_FREE_REALLOC) {
            on_free(&r, p);
        } else {
            on_alloc(&r, p, e->size);
        }
    }
    for (size_t i = 0; i < map.size; i++) {
        r.unknown += map.place[i].free_waits;
        r.conflicts += map.place[i].alloc_waits;
    }
    free(map.place);
    return r;
}

uint64_t heap_count(const struct heap_log *log, uint32_t kind, uint64_t size)
{
    uint64_t count = 0;

    for (size_t i = 0; i < log->event_count; i++)
        count += log->event[i].kind == kind && (size == SIZE_MAX || log->event[i].size == size);
    return count;
}

const struct heap_event *heap_find(const struct heap_log *log, uint32_t kind, uint64_t size)
{
    for (size_t i = 0; i < log->event_count; i++)
        if (log->event[i].kind == kind && log->event[i].size == size)
            return &log->event[i];
    return NULL;
}

const struct heap_event *heap_find_behind(const struct heap_log *log,
                                          const struct heap_event *event, uint32_t kind)
{
    for (size_t i = (size_t)(event - log->event) + 1; i < log->event_count; i++)
        if (log->event[i].kind == kind && log->event[i].pointer == event->pointer)
            return &log->event[i];
    return NULL;
}

const struct heap_stack *heap_stack(const struct heap_log *log, const struct heap_event *event)
{
    for (size_t i = 0; i < log->stack_count; i++)
        if (log->stack[i].hash == event->hash &&
            log->stack[i].process == log->thread[event->thread].process)
            return &log->stack[i];
    return NULL;
}

uint64_t heap_lost(const struct heap_log *log, enum sfb_recording_loss reason)
{
    uint64_t lost = 0;

    for (uint32_t i = 0; i < log->process_count; i++)
        lost += log->process[i].lost[reason];
    for (uint32_t i = 0; i < log->thread_count; i++)
        lost += log->thread[i].lost[reason];
    return lost;
}

bool heap_exited(const struct heap_log *log, int status)
{
    return WIFEXITED(log->status) && WEXITSTATUS(log->status) == status;
}

void heap_expect_good(const struct heap_log *log, int status)
{
    cr_assert(heap_exited(log, status), "wait() said %#x: %s", (unsigned)log->status, log->out);
    /* The library of C, at least, and the program. */
    for (uint32_t i = 0; i < log->process_count; i++)
        cr_expect(log->process[i].has_program && log->process[i].modules >= 100, "%u bytes",
                  log->process[i].modules);
    for (int reason = 0; reason < SFB_LOSS_COUNT; reason++)
        cr_expect(reason == SFB_LOSS_HEAP_WAITS ||
                      heap_lost(log, (enum sfb_recording_loss)reason) == 0,
                  "%d: %u lost", reason, (unsigned)heap_lost(log, (enum sfb_recording_loss)reason));
}
