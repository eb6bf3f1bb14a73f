#include "profiler/report/text/heap_missing.h"

#include <inttypes.h>

#include "profiler/report/text/advice.h"
#include "profiler/report/text/columns.h"
#include "profiler/report/text/nameless.h"
#include "util/counted.h"

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
    fputs(" has no sums: it is not known which function allocated what\n", to);
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
        fputs(" has no sums: they are added up from its events, without temporary blocks, slack "
              "and lifetimes\n",
              to);
        break;
    case SUMS_AND_EVENTS:
        put_heap(to, data, heap);
        fprintf(to,
                " has its last sums of %.3f s: later sums are added up from events; temporary "
                "blocks, slack and lifetimes are older\n",
                since_start(data, heap->totals));
        break;
    case SNAPSHOT:
        put_heap(to, data, heap);
        fprintf(to, " is that of its last snapshot, at %.3f s\n", since_start(data, heap->totals));
        break;
    case NOTHING: write_state(to, data, heap); break;
    }
}

/* Whether so many events were lost that it matters from when on they were. */
static bool is_incomplete(const struct report_data *data, const struct report_heap *heap,
                          enum report_detail detail)
{
    uint64_t lost = 0, all = data->heap.events.count;

    for (size_t i = 0; i < data->losses.count; i++)
        if (data->losses.at[i].reason == SFB_LOSS_HEAP_EVENTS)
            lost = report_saturated(lost, data->losses.at[i].count);
    if (heap->state != REPORT_NONE && data->heap.states.at[heap->state].allocated.blocks > all)
        all = data->heap.states.at[heap->state].allocated.blocks;
    return heap->incomplete > 0 &&
           (lost == 0 || report_detail_has(detail, lost, report_saturated(lost, all)));
}

static bool is_plain(const struct report_data *data, const struct report_heap *heap,
                     enum report_detail detail)
{
    return !is_incomplete(data, heap, detail) && origin_of(data, heap) == SUMS;
}

static void write_heap(FILE *to, const struct report_data *data, const struct report_heap *heap,
                       enum report_detail detail)
{
    if (is_incomplete(data, heap, detail)) {
        put_heap(to, data, heap);
        fprintf(to, " is incomplete from %.3f s on: events were lost\n",
                since_start(data, heap->incomplete));
    }
    write_origin(to, data, heap);
}

/* Sums of all heaps. */
struct counts {
    uint64_t unknown_frees, conflicts, contradictions;
    size_t heaps; /* that there is something to say of */
    bool paused;  /* one of the recordings was, for a while */
};

static void add(struct counts *c, FILE *to, const struct report_data *data,
                const struct report_heap *heap, enum report_detail detail)
{
    if (heap->state != REPORT_NONE) {
        const struct sfb_recording_heap_state *s = &data->heap.states.at[heap->state];

        c->unknown_frees = report_saturated(c->unknown_frees, s->unknown_frees);
        c->conflicts = report_saturated(c->conflicts, s->conflicts);
    }
    if (!is_plain(data, heap, detail) && c->heaps++ < HEAPS_MAX)
        write_heap(to, data, heap, detail);
}

static void write_heaps(FILE *to, const struct report_model *model, enum report_detail detail)
{
    const uint64_t all = model->totals[REPORT_ALLOC_OBJECTS];
    struct counts c = { .heaps = 0 };

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        c.contradictions = report_saturated(c.contradictions, data->heap.contradictions);
        c.paused |= data->pauses.count > 0;
        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const struct report_heap *heap = &data->heap.heaps.at[k];

            if (report_choice_has_process(&model->choice, &data->processes.at[heap->process]))
                add(&c, to, data, heap, detail);
        }
    }
    if (c.heaps > HEAPS_MAX)
        fprintf(to, "  [%s not whole]\n", counted(c.heaps - HEAPS_MAX, "more heaps are").text);
    if (report_detail_has(detail, c.unknown_frees, all))
        fprintf(to, "  %s of blocks that were there before the recording%s\n",
                counted(c.unknown_frees, "frees").text, c.paused ? ", or in a pause" : "");
    if (report_detail_has(detail, c.conflicts, all))
        fprintf(to, "  left out: %s that contradicted others\n",
                counted(c.conflicts, "events").text);
    if (c.contradictions > 0)
        fprintf(to, "  %s of the heap cannot be true: sfb report --check\n",
                counted(c.contradictions, "records").text);
}

bool report_heap_missing_write(FILE *to, const struct report_model *model,
                               enum report_detail detail)
{
    const uint64_t blocks = model->totals[REPORT_ALLOC_OBJECTS];

    write_heaps(to, model, detail);
    if (report_detail_has(detail, model->truncated, blocks)) {
        fprintf(to, "  stacks of %" PRIu64 " of %s are cut off (%.2f %%)\n", model->truncated,
                counted(blocks, "blocks").text, report_share(model->truncated, blocks));
        if (detail == REPORT_DETAIL_CALM)
            report_advice_truncated(to, model);
    }
    return report_nameless_write(to, model, model->totals[model->main], detail);
}
