#include "report/text/heap_missing.h"

#include <inttypes.h>

#include "report/text/columns.h"

/* Heaps that are named. */
enum { HEAPS_MAX = 8 };

static double since_start(const struct report_data *data, uint64_t time)
{
    return time > data->start.monotonic ? (double)(time - data->start.monotonic) / 1e9 : 0.0;
}

/* "heap" or "heap of process 12" */
static void put_heap(FILE *to, const struct report_data *data, const struct report_heap *heap)
{
    fputs("  the heap", to);
    if (data->heap.heaps.count > 1)
        fprintf(to, " of process %" PRIu32, data->processes.at[heap->process].pid);
}

/* What the time line knows of a heap whose sites have no sums. */
static void write_state(FILE *to, const struct report_data *data, const struct report_heap *heap)
{
    const struct sfb_recording_heap_state *s;
    struct report_amount blocks, bytes;

    put_heap(to, data, heap);
    fputs(" has no sums: it is not known who allocated what\n", to);
    if (heap->state == REPORT_NONE)
        return;
    s = &data->heap.states.at[heap->state];
    blocks = report_exactly(s->live.blocks);
    bytes = report_exactly(s->live.bytes);
    fprintf(to, "  at %.3f s there lived ", since_start(data, s->time));
    report_bytes_put(to, &blocks, &bytes);
    blocks.value = s->peak.blocks;
    bytes.value = s->peak.bytes;
    fputs("; the peak was ", to);
    report_bytes_put(to, &blocks, &bytes);
    fprintf(to, ", at %.3f s\n", since_start(data, s->peak_time));
}

/* How what is shown of a heap came to be, where it is not simply its sums. */
enum origin { SUMS, EVENTS, SUMS_AND_EVENTS, SNAPSHOT, NOTHING };

static enum origin origin_of(const struct report_data *data, const struct report_heap *heap)
{
    const bool allocated =
        heap->state != REPORT_NONE && data->heap.states.at[heap->state].allocated.blocks > 0;

    if (heap->computed)
        return heap->totals == 0 ? EVENTS : SUMS_AND_EVENTS;
    if (heap->totals == 0)
        return allocated ? NOTHING : SUMS;
    return data->health.finished ? SUMS : SNAPSHOT;
}

static void write_origin(FILE *to, const struct report_data *data, const struct report_heap *heap)
{
    switch (origin_of(data, heap)) {
    case SUMS: break;
    case EVENTS:
        put_heap(to, data, heap);
        fputs(" has no sums: these are of its events, without what is temporary, slack and "
              "lifetimes\n",
              to);
        break;
    case SUMS_AND_EVENTS:
        put_heap(to, data, heap);
        fprintf(to,
                " has its last sums of %.3f s: those of later are of its events; what is "
                "temporary, slack and lifetimes are older\n",
                since_start(data, heap->totals));
        break;
    case SNAPSHOT:
        put_heap(to, data, heap);
        fprintf(to, " is that of its last snapshot, at %.3f s\n", since_start(data, heap->totals));
        break;
    case NOTHING: write_state(to, data, heap); break;
    }
}

static void write_heap(FILE *to, const struct report_data *data, const struct report_heap *heap)
{
    if (heap->incomplete > 0) {
        put_heap(to, data, heap);
        fprintf(to, " is incomplete from %.3f s on: events were lost\n",
                since_start(data, heap->incomplete));
    }
    write_origin(to, data, heap);
}

static bool is_plain(const struct report_data *data, const struct report_heap *heap)
{
    return heap->incomplete == 0 && origin_of(data, heap) == SUMS;
}

/* Sums of all heaps. */
struct counts {
    uint64_t unknown_frees, conflicts, contradictions;
    size_t heaps; /* that there is something to say of */
};

static void add(struct counts *c, FILE *to, const struct report_data *data,
                const struct report_heap *heap)
{
    if (heap->state != REPORT_NONE) {
        const struct sfb_recording_heap_state *s = &data->heap.states.at[heap->state];

        c->unknown_frees = report_saturated(c->unknown_frees, s->unknown_frees);
        c->conflicts = report_saturated(c->conflicts, s->conflicts);
    }
    if (!is_plain(data, heap) && c->heaps++ < HEAPS_MAX)
        write_heap(to, data, heap);
}

void report_heap_missing_write(FILE *to, const struct report_model *model)
{
    struct counts c = { .heaps = 0 };

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        c.contradictions = report_saturated(c.contradictions, data->heap.contradictions);
        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const struct report_heap *heap = &data->heap.heaps.at[k];

            if (report_choice_has_process(&model->choice, &data->processes.at[heap->process]))
                add(&c, to, data, heap);
        }
    }
    if (c.heaps > HEAPS_MAX)
        fprintf(to, "  [%zu more heaps are not whole]\n", c.heaps - HEAPS_MAX);
    if (c.unknown_frees > 0)
        fprintf(to, "  %" PRIu64 " frees of blocks that were there before the recording\n",
                c.unknown_frees);
    if (c.conflicts > 0)
        fprintf(to, "  %" PRIu64 " events contradict others and were left out\n", c.conflicts);
    if (c.contradictions > 0)
        fprintf(to, "  %" PRIu64 " records of the heap cannot be true: sfb report --check\n",
                c.contradictions);
}
