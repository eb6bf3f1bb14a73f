#include "profiler/report/model/heap_complete.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/replay.h"

/* Events may have the processor's counter as their clock, and sums have not: they are never so far apart. */
enum { CLOCKS_APART_NS = 10000000 };

/* Sets last[heap] to the time of the mark that precedes the last event of each process. */
static void note_last_events(const struct report_heap_data *heap, uint64_t *last)
{
    size_t mark = 0;

    for (size_t i = 0; i < heap->events.count; i++) {
        const struct report_heap_pair *pair = &heap->pairs.at[heap->events.at[i] >> 1];

        while (mark + 1 < heap->marks.count && heap->marks.at[mark + 1].event <= i)
            mark++;
        last[heap->sites.at[pair->site].heap] = heap->marks.at[mark].time;
    }
}

static bool fill(struct report_heap_data *heap, const struct report_replay *ends,
                 const struct report_replay *peaks)
{
    for (size_t i = 0; i < heap->sites.count; i++) {
        struct sfb_recording_heap_totals *totals;
        const struct report_heap *of = &heap->heaps.at[heap->sites.at[i].heap];

        if (!of->computed)
            continue;
        totals = report_heap_totals_of(heap, (uint32_t)i);
        if (!totals)
            return false;
        totals->site = heap->sites.at[i].id;
        totals->time = of->last;
        totals->allocated = totals->live = totals->peak = (struct sfb_recording_heap_amount){ 0 };
        memset(totals->sizes, 0, sizeof totals->sizes);
    }
    for (size_t i = 0; i < heap->pairs.count; i++) {
        const struct report_heap_pair *pair = &heap->pairs.at[i];
        const struct report_heap_site *site = &heap->sites.at[pair->site];
        const struct report_heap *of = &heap->heaps.at[site->heap];

        if (!of->computed)
            continue;
        report_replay_add(&heap->totals.at[site->totals], of->rate, pair->size, &ends->at[i],
                          &peaks->at[i]);
    }
    return true;
}

bool report_heap_complete(struct report_heap_data *heap)
{
    uint64_t *last = calloc(heap->heaps.count + 1, sizeof *last);
    struct report_replay ends = { .at = NULL }, peaks = { .at = NULL };
    bool needed = false, good = last != NULL;

    if (good)
        note_last_events(heap, last);
    for (size_t i = 0; good && i < heap->heaps.count; i++) {
        heap->heaps.at[i].computed =
            last[i] > report_saturated(heap->heaps.at[i].totals, CLOCKS_APART_NS);
        needed |= heap->heaps.at[i].computed;
    }
    if (good && needed)
        good = report_replay_until(&ends, heap, UINT64_MAX) && report_replay_peaks(&peaks, heap) &&
               fill(heap, &ends, &peaks);
    report_replay_free(&ends);
    report_replay_free(&peaks);
    free(last);
    return good;
}
