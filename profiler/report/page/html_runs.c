#include "profiler/report/page/html_runs.h"

#include <stdlib.h>

/* A recording. A damaged file may have any time: sums of two such times fit. */
struct run {
    uint64_t begin, end; /* ns since 1970 */
    uint32_t source, group;
};

static const uint64_t most = UINT64_MAX / 4;

static uint64_t bounded(uint64_t time)
{
    return time < most ? time : most;
}

static struct run run_of(const struct report_model *model, uint32_t source)
{
    const struct report_data *data = model->sources[source].data;
    const uint64_t begin = bounded(data->start.realtime);

    return (struct run){ .begin = begin,
                         .end = begin + bounded(report_data_end(data) - data->start.monotonic),
                         .source = source,
                         .group = model->sources[source].group };
}

static int compare(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

/* Places the recordings of one group. */
static void place(uint64_t *out, const struct run *runs, size_t count)
{
    const uint64_t begin = runs[0].begin;
    uint64_t recorded = 0, removed = begin, end = begin;

    for (size_t i = 0; i < count; i++)
        recorded = report_saturated(recorded, runs[i].end - runs[i].begin);
    for (size_t i = 0; i < count; i++) {
        const uint64_t pause = runs[i].begin > end ? runs[i].begin - end : 0;

        if (pause > recorded / count)
            removed += pause - recorded / count;
        out[runs[i].source] = runs[i].begin - removed;
        end = runs[i].end > end ? runs[i].end : end;
    }
}

uint64_t *html_runs_begin(const struct report_model *model)
{
    const size_t count = model->source_count;
    struct run *runs = calloc(count + 1, sizeof *runs);
    uint64_t *out = calloc(count + 1, sizeof *out);
    size_t known = 0;

    for (uint32_t i = 0; runs && i < count; i++)
        if (model->sources[i].data->start.realtime > 0) /* else it begins with the others */
            runs[known++] = run_of(model, i);
    if (known > 0)
        qsort(runs, known, sizeof *runs, compare);
    for (size_t i = 0, end; out && i < known; i = end) {
        for (end = i; end < known && runs[end].group == runs[i].group;)
            end++;
        place(out, runs + i, end - i);
    }
    if (!runs) {
        free(out);
        out = NULL;
    }
    free(runs);
    return out;
}
