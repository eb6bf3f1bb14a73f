#include "profiler/report/page/html_time.h"

#include <stdlib.h>

#include "profiler/report/page/html_runs.h"
#include "util/index.h"

/* A page is at most about so many pixels wide; a step is no shorter than a sample's period. */
enum { STEPS_MAX = 2000, SHORTEST_NS = 1000000 };

/* A wait is in each step that it lasted: of many threads in fewer, so that a page has no more moments than about so many. */
enum { MOMENTS_OF_WAITS = 300000 };

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

/* A damaged file may have any time. */
static uint64_t time_of(const struct report_model *model, const uint64_t *begin,
                        const struct report_point *point)
{
    const uint32_t source = model->members.at[model->rows.at[point->row].member].source;
    const uint64_t time = report_saturated(begin[source], point->time), most = UINT64_MAX / 1000;

    return time < most ? time : most;
}

/* @return false: no memory */
static bool add(struct html_time *out, struct report_index *index, const struct report_point *point,
                uint64_t time, uint64_t weight, unsigned count)
{
    const uint32_t step = (uint32_t)(time / out->step_ns);
    struct html_moment *moment;
    uint32_t at = 0;
    bool found;

    if (!report_index_find(index, step, point->row, (uint32_t)out->moments.count, &at, &found))
        return false;
    if (!found) {
        moment = REPORT_NEXT(out->moments);
        if (!moment)
            return false;
        *moment = (struct html_moment){ .step = step, .row = point->row };
    }
    out->moments.at[at].count += count;
    out->moments.at[at].weight += weight;
    return true;
}

static bool is_wait(const struct report_model *model, const struct report_point *point)
{
    return point->weight > SHORTEST_NS &&
           report_waits_in(model, model->rows.at[point->row].stack) != NULL;
}

/* @return ns of a part of a wait: a step, or several */
static uint64_t part_of(const struct html_time *time, const struct report_model *model)
{
    uint64_t steps = 0;

    for (size_t i = 0; i < model->points.count; i++)
        if (is_wait(model, &model->points.at[i]))
            steps = report_saturated(steps, model->points.at[i].weight / time->step_ns + 1);
    return time->step_ns * (steps / MOMENTS_OF_WAITS + 1);
}

/* Its last part is in the step of its end. */
static bool add_point(struct html_time *out, struct report_index *index,
                      const struct report_point *point, uint64_t time, uint64_t part)
{
    uint64_t left = point->weight, end = time;

    /* A damaged file may have a wait that is longer than its time. */
    while (left > part && end > part) {
        if (!add(out, index, point, end, part, end == time))
            return false;
        left -= part;
        end -= part;
    }
    return add(out, index, point, end, left, end == time);
}

bool html_time_make(struct html_time *out, const struct report_model *model)
{
    uint64_t *begin = html_runs_begin(model);
    struct report_index index = { .at = NULL };
    uint64_t end = 0, part;
    bool good = begin != NULL;

    *out = (struct html_time){ .step_ns = 0 };
    for (size_t i = 0; good && i < model->points.count; i++) {
        const uint64_t time = time_of(model, begin, &model->points.at[i]);

        end = time > end ? time : end;
    }
    out->step_ns = html_time_step(end, SHORTEST_NS);
    out->steps = (uint32_t)(end / out->step_ns) + 1;
    part = good ? part_of(out, model) : out->step_ns;
    for (size_t i = 0; good && i < model->points.count; i++)
        good = add_point(out, &index, &model->points.at[i],
                         time_of(model, begin, &model->points.at[i]),
                         is_wait(model, &model->points.at[i]) ? part : UINT64_MAX);
    free(begin);
    report_index_free(&index);
    html_time_sort(out);
    return good;
}

void html_time_free(struct html_time *time)
{
    free(time->moments.at);
    free(time->live[0].steps);
    free(time->live[1].steps);
    html_memory_free(&time->memory);
    *time = (struct html_time){ .step_ns = 0 };
}
