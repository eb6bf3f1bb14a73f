#include "profiler/report/page/html_time.h"

#include <stdlib.h>

/* A page is at most about so many pixels wide; a step is no shorter than a sample's period. */
enum { STEPS_MAX = 2000, SHORTEST_NS = 1000000 };

uint64_t html_time_step(uint64_t end, uint64_t shortest)
{
    uint64_t power = shortest;

    for (;;) {
        static const unsigned factors[] = { 1, 2, 5 };

        for (size_t i = 0; i < 3; i++)
            if (end / (power * factors[i]) < STEPS_MAX)
                return power * factors[i];
        power *= 10;
    }
}

static int compare(const void *a, const void *b)
{
    const struct html_moment *x = a, *y = b;

    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

void html_time_sort(struct html_time *time)
{
    if (time->moments.count > 0)
        qsort(time->moments.at, time->moments.count, sizeof *time->moments.at, compare);
}

bool html_time_make(struct html_time *out, const struct report_model *model)
{
    struct report_index index = { .at = NULL };
    uint64_t end = 0;
    bool good = true, found;

    *out = (struct html_time){ .step_ns = 0 };
    for (size_t i = 0; i < model->points.count; i++)
        if (model->points.at[i].time > end)
            end = model->points.at[i].time;
    /* A damaged file may have any time. */
    if (end > UINT64_MAX / 1000)
        end = UINT64_MAX / 1000;
    out->step_ns = html_time_step(end, SHORTEST_NS);
    out->steps = (uint32_t)(end / out->step_ns) + 1;
    for (size_t i = 0; good && i < model->points.count; i++) {
        const struct report_point *point = &model->points.at[i];
        const uint64_t step = point->time / out->step_ns;
        const uint32_t within = step < out->steps ? (uint32_t)step : out->steps - 1;
        uint32_t at = 0;

        good = report_index_find(&index, within, point->row, (uint32_t)out->moments.count, &at,
                                 &found);
        if (good && !found) {
            struct html_moment *moment = REPORT_NEXT(out->moments);

            good = moment != NULL;
            if (moment)
                *moment = (struct html_moment){ .step = within, .row = point->row };
        }
        if (good) {
            out->moments.at[at].count++;
            out->moments.at[at].weight += point->weight;
        }
    }
    report_index_free(&index);
    html_time_sort(out);
    return good;
}

void html_time_free(struct html_time *time)
{
    free(time->moments.at);
    free(time->live[0].steps);
    free(time->live[1].steps);
    *time = (struct html_time){ .step_ns = 0 };
}
