#include "profiler/report/model/data_heap.h"

#include <stdlib.h>

struct report_heap *report_heap_of(const struct report_heap_data *heap, uint32_t process)
{
    if (process >= heap->of_process.count || heap->of_process.at[process] == 0)
        return NULL;
    return &heap->heaps.at[heap->of_process.at[process] - 1];
}

/* Ids ascend in a file, mostly by one: then the first guess is right. @return index; REPORT_NONE */
static uint32_t find_site(const struct report_heap_data *heap, uint32_t id)
{
    size_t low = 0, high = heap->sites.count;

    if (high > 0 && id - heap->sites.at[0].id < high &&
        heap->sites.at[id - heap->sites.at[0].id].id == id)
        return id - heap->sites.at[0].id;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (heap->sites.at[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < heap->sites.count && heap->sites.at[low].id == id ? (uint32_t)low : REPORT_NONE;
}

static void note_time(struct report_heap *heap, uint64_t time)
{
    if (time > heap->last)
        heap->last = time;
}

bool report_heap_add(struct report_heap_data *heap, uint32_t process,
                     const struct sfb_recording_heap *from)
{
    struct report_heap *new;

    if (report_heap_of(heap, process)) {
        heap->contradictions++; /* a second one: the first stays */
        return true;
    }
    while (heap->of_process.count <= process)
        if (!REPORT_NEXT(heap->of_process))
            return false;
    new = REPORT_NEXT(heap->heaps);
    if (!new)
        return false;
    heap->of_process.at[process] = (uint32_t)heap->heaps.count;
    *new = (struct report_heap){ .process = process,
                                 .flags = from->flags,
                                 .time = from->time,
                                 .rate = from->rate,
                                 .last = from->time,
                                 .state = REPORT_NONE };
    return true;
}

bool report_heap_add_site(struct report_heap_data *heap, uint32_t process, uint32_t thread,
                          uint32_t stack, uint64_t modules,
                          const struct sfb_recording_heap_site *from)
{
    const struct report_heap *of = report_heap_of(heap, process);
    struct report_heap_site *site;

    if (!of || (heap->sites.count > 0 && from->id <= heap->sites.at[heap->sites.count - 1].id)) {
        heap->contradictions++;
        return true;
    }
    site = REPORT_NEXT(heap->sites);
    if (!site)
        return false;
    *site = (struct report_heap_site){ .id = from->id,
                                       .heap = (uint32_t)(of - heap->heaps.at),
                                       .thread = thread,
                                       .stack = stack,
                                       .kind = from->kind,
                                       .totals = REPORT_NONE,
                                       .modules = modules };
    return true;
}

/* --- Totals ------------------------------------------------------------------------------------ */

/* A part of what was allocated is not more than that. @return whether it was so */
static bool bound(struct sfb_recording_heap_amount *part,
                  const struct sfb_recording_heap_amount *all)
{
    const bool good = part->blocks <= all->blocks && part->bytes <= all->bytes;

    if (part->blocks > all->blocks)
        part->blocks = all->blocks;
    if (part->bytes > all->bytes)
        part->bytes = all->bytes;
    return good;
}

static bool add_snapshot(struct report_heap_data *heap, uint32_t site,
                         const struct sfb_recording_heap_totals *totals)
{
    struct report_heap_snapshot *snapshot = REPORT_NEXT(heap->snapshots);

    if (snapshot)
        *snapshot =
            (struct report_heap_snapshot){ site, totals->time, totals->allocated, totals->live };
    return snapshot != NULL;
}

struct sfb_recording_heap_totals *report_heap_totals_of(struct report_heap_data *heap,
                                                        uint32_t site)
{
    struct report_heap_site *s = &heap->sites.at[site];
    struct sfb_recording_heap_totals *totals;

    if (s->totals != REPORT_NONE)
        return &heap->totals.at[s->totals];
    totals = REPORT_NEXT(heap->totals);
    if (totals)
        s->totals = (uint32_t)(totals - heap->totals.at);
    return totals;
}

bool report_heap_add_totals(struct report_heap_data *heap,
                            const struct sfb_recording_heap_totals *from)
{
    const uint32_t site = find_site(heap, from->site);
    struct sfb_recording_heap_totals *totals;
    struct report_heap *of;
    bool live, peak, temporary;

    if (site == REPORT_NONE) {
        heap->contradictions++;
        return true;
    }
    totals = report_heap_totals_of(heap, site);
    if (!totals)
        return false;
    of = &heap->heaps.at[heap->sites.at[site].heap];
    *totals = *from;
    /* Of a dump of what lives, nothing else is known. */
    if ((of->flags & SFB_HEAP_LIVE) && totals->allocated.blocks < totals->live.blocks)
        totals->allocated = totals->live;
    live = bound(&totals->live, &totals->allocated);
    peak = bound(&totals->peak, &totals->allocated);
    temporary = bound(&totals->temporary, &totals->allocated);
    heap->contradictions += !live || !peak || !temporary;
    note_time(of, from->time);
    if (from->time > of->totals)
        of->totals = from->time;
    return !(of->flags & SFB_HEAP_AGGREGATE) || add_snapshot(heap, site, totals);
}

bool report_heap_add_state(struct report_heap_data *heap, uint32_t process,
                           const struct sfb_recording_heap_state *from)
{
    struct report_heap *of = report_heap_of(heap, process);
    struct sfb_recording_heap_state *state;

    if (!of) {
        heap->contradictions++;
        return true;
    }
    state = REPORT_NEXT(heap->states);
    if (!state)
        return false;
    *state = *from;
    state->process = process;
    /* The line of a process goes forward. */
    if (of->state != REPORT_NONE && state->time < heap->states.at[of->state].time)
        state->time = heap->states.at[of->state].time;
    of->state = (uint32_t)(state - heap->states.at);
    note_time(of, from->time);
    return true;
}

/* --- Events ------------------------------------------------------------------------------------ */

static bool add_mark(struct report_heap_data *heap, uint64_t time)
{
    const size_t count = heap->marks.count;
    struct report_heap_mark *mark;

    if (count > 0 && time == heap->marks.at[count - 1].time)
        return true;
    mark = REPORT_NEXT(heap->marks);
    if (mark)
        *mark = (struct report_heap_mark){ time, (uint32_t)heap->events.count };
    return mark != NULL;
}

bool report_heap_add_event(struct report_heap_data *heap,
                           const struct sfb_recording_heap_event *from)
{
    const uint32_t site = find_site(heap, from->site);
    struct report_heap_pair *pair;
    uint32_t number, *event;
    bool found;

    if (site == REPORT_NONE || heap->pairs.count >= UINT32_MAX / 2) {
        heap->contradictions++;
        return true;
    }
    if (!report_index_find(&heap->pair_of, site, from->size, (uint32_t)heap->pairs.count, &number,
                           &found))
        return false;
    if (!found) {
        pair = REPORT_NEXT(heap->pairs);
        if (!pair)
            return false;
        *pair = (struct report_heap_pair){ site, from->size };
    }
    if (!add_mark(heap, from->time))
        return false;
    event = REPORT_NEXT(heap->events);
    if (event)
        *event = number << 1 | from->freed;
    note_time(&heap->heaps.at[heap->sites.at[site].heap], from->time);
    return event != NULL;
}

void report_heap_add_loss(struct report_heap_data *heap, uint32_t process)
{
    for (size_t i = 0; i < heap->heaps.count; i++) {
        struct report_heap *of = &heap->heaps.at[i];

        if ((process == REPORT_NONE || of->process == process) && of->incomplete == 0)
            of->incomplete = of->last > 0 ? of->last : 1;
    }
}

void report_heap_free(struct report_heap_data *heap)
{
    free(heap->heaps.at);
    free(heap->of_process.at);
    free(heap->sites.at);
    free(heap->totals.at);
    free(heap->snapshots.at);
    free(heap->states.at);
    free(heap->pairs.at);
    free(heap->events.at);
    free(heap->marks.at);
    report_index_free(&heap->pair_of);
    *heap = (struct report_heap_data){ .contradictions = 0 };
}
