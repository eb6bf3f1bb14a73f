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

static void write_heap(FILE *to, const struct report_data *data, const struct report_heap *heap)
{
    const struct sfb_recording_heap_state *s =
        heap->state == REPORT_NONE ? NULL : &data->heap.states.at[heap->state];

    if (heap->incomplete > 0) {
        put_heap(to, data, heap);
        fprintf(to, " is incomplete from %.3f s on: events were lost\n",
                since_start(data, heap->incomplete));
    }
    if (heap->computed && heap->totals == 0) {
        put_heap(to, data, heap);
        fputs(" has no sums: these are of its events, without what is temporary, slack and "
              "lifetimes\n",
              to);
    } else if (heap->computed) {
        put_heap(to, data, heap);
        fprintf(to,
                " has its last sums of %.3f s: those of later are of its events; what is "
                "temporary, slack and lifetimes are older\n",
                since_start(data, heap->totals));
    } else if (heap->totals == 0 && s && s->allocated.blocks > 0) {
        write_state(to, data, heap);
    } else if (!data->health.finished && heap->totals > 0) {
        put_heap(to, data, heap);
        fprintf(to, " is that of its last snapshot, at %.3f s\n", since_start(data, heap->totals));
    }
    if (s && s->unknown_frees > 0)
        fprintf(to, "  %" PRIu64 " frees of blocks that were there before the recording\n",
                s->unknown_frees);
    if (s && s->conflicts > 0)
        fprintf(to, "  %" PRIu64 " events contradict others and were left out\n", s->conflicts);
}

void report_heap_missing_write(FILE *to, const struct report_model *model)
{
    uint64_t contradictions = 0;
    size_t count = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        contradictions = report_saturated(contradictions, data->heap.contradictions);
        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const struct report_heap *heap = &data->heap.heaps.at[k];

            if (report_choice_has_process(&model->choice, &data->processes.at[heap->process]) &&
                count++ < HEAPS_MAX)
                write_heap(to, data, heap);
        }
    }
    if (contradictions > 0)
        fprintf(to, "  %" PRIu64 " records of the heap cannot be true: sfb report --check\n",
                contradictions);
}
