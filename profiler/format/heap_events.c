#include "profiler/format/heap_events.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 1024, PAIRS_GOOD = 1 << 18 };

static const uint64_t step_ns = 10000000;

_Static_assert((int)PAIRS_GOOD < (int)RECORDING_PAIRS_MAX, "a reader takes them");

static size_t place_of(const struct sfb_heap_events *e, uint32_t site, uint64_t size)
{
    const uint64_t hash =
        (size * UINT64_C(0x9e3779b97f4a7c15) ^ site) * UINT64_C(0xd6e8feb86659fd93);
    size_t at = (size_t)(hash >> 32) & (e->room - 1);

    while (e->pairs[at].site != 0 && (e->pairs[at].site != site || e->pairs[at].size != size))
        at = (at + 1) & (e->room - 1);
    return at;
}

static bool grow(struct sfb_heap_events *e)
{
    const size_t before = e->room;
    struct sfb_heap_pair *old = e->pairs, *new;

    new = calloc(before > 0 ? 2 * before : ROOM_MIN, sizeof *new);
    if (new == NULL)
        return false;
    e->pairs = new;
    e->room = before > 0 ? 2 * before : ROOM_MIN;
    for (size_t i = 0; i < before; i++)
        if (old[i].site != 0)
            new[place_of(e, old[i].site, old[i].size)] = old[i];
    free(old);
    return true;
}

static void put_mark(struct sfb_heap_events *e, uint64_t time)
{
    sfb_bytes_put_u8(&e->columns[HEAP_SYMBOLS], HEAP_MARK);
    sfb_bytes_put_uleb(&e->columns[HEAP_TIMES], time - e->time);
    e->time = time;
}

static void put_pair(struct sfb_heap_events *e, struct sfb_heap_pair *pair,
                     const struct sfb_recording_heap_event *event)
{
    *pair = (struct sfb_heap_pair){ event->size, event->site, (uint32_t)e->count++ };
    sfb_bytes_put_u8(&e->columns[HEAP_SYMBOLS], event->freed ? HEAP_NEW + 1 : HEAP_NEW);
    sfb_bytes_put_sleb(&e->columns[HEAP_SITES], (int64_t)event->site - (int64_t)e->last_site);
    sfb_bytes_put_uleb(&e->columns[HEAP_SIZES], event->size);
    e->last_site = event->site;
}

bool sfb_heap_events_put(struct sfb_heap_events *e, const struct sfb_recording_heap_event *event)
{
    struct sfb_heap_pair *pair;

    if (2 * (e->count + 1) > e->room && !grow(e))
        return false;
    if (event->time - e->time >= step_ns && (event->time > e->time || e->time == 0))
        put_mark(e, event->time);
    pair = &e->pairs[place_of(e, event->site, event->size)];
    if (pair->site == 0)
        put_pair(e, pair, event);
    else
        sfb_bytes_put_uleb(&e->columns[HEAP_SYMBOLS],
                           HEAP_ALLOCATED + 2 * (uint64_t)pair->number + event->freed);
    e->records++;
    return true;
}

static size_t size_of(const struct sfb_heap_events *e)
{
    size_t size = 0;

    for (size_t i = 0; i < HEAP_COLUMNS; i++)
        size += e->columns[i].size;
    return size;
}

bool sfb_heap_events_full(const struct sfb_heap_events *e, uint64_t most)
{
    return e->count >= PAIRS_GOOD || size_of(e) >= most;
}

bool sfb_heap_events_end(struct sfb_heap_events *e, struct sfb_bytes *payload)
{
    bool failed = false;

    sfb_bytes_put_uleb(payload, e->process);
    sfb_bytes_put_uleb(payload, HEAP_COLUMNS);
    for (size_t i = 0; i < HEAP_COLUMNS; i++)
        sfb_bytes_put_uleb(payload, e->columns[i].size);
    for (size_t i = 0; i < HEAP_COLUMNS; i++) {
        sfb_bytes_put(payload, e->columns[i].at, e->columns[i].size);
        failed |= e->columns[i].failed;
        e->columns[i].size = 0;
    }
    if (e->room > 0)
        memset(e->pairs, 0, e->room * sizeof *e->pairs);
    e->count = e->last_site = e->records = 0;
    e->time = 0;
    return !failed && !payload->failed;
}

void sfb_heap_events_free(struct sfb_heap_events *e)
{
    for (size_t i = 0; i < HEAP_COLUMNS; i++)
        sfb_bytes_free(&e->columns[i]);
    free(e->pairs);
    *e = (struct sfb_heap_events){ 0 };
}
