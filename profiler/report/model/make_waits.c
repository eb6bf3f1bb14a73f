#include "profiler/report/model/make_waits.h"

#include <stdio.h>
#include <stdlib.h>

#include "profiler/report/model/idle_threads.h"
#include "profiler/report/model/make_causes.h"
#include "profiler/report/model/make_locks.h"
#include "profiler/report/model/make_wakers.h"

/* By time, a long wait is several points: of a file that claims years, few. */
static const uint64_t point_ns = 100000000;
enum { POINTS_OF_WAIT = 4096, POINTS_MOST = 1 << 22 };

void report_make_time_type(struct report_model *model, const struct report_data *data)
{
    static const char *const types[] = { "cpu",      "cpu",     "wall", "offcpu",
                                         "runnable", "blocked", "calls" };

    if (data->start.engine == SFB_ENGINE_CALLS) {
        model->choice.time_value = REPORT_TIME_CALLS;
        model->types[REPORT_VALUE_TIME].unit = "count";
    }
    if (model->choice.time_value == REPORT_TIME_USUAL)
        model->choice.time_value = data->wait_count > 0 ? REPORT_TIME_WALL : REPORT_TIME_CPU;
    model->types[REPORT_VALUE_TIME].type = types[model->choice.time_value];
}

/* --- Idle threads ------------------------------------------------------------------------------ */

enum { NAME = 1024 };

static bool waits_for_gil(const struct report_data *data, uint32_t stack)
{
    static const struct report_choice waited = { .gil = SFB_GIL_WAITED };

    return data->code_frames.count > 0 && report_choice_has_stack(&waited, data, stack);
}

/* "asleep in futex", "runnable", "waiting for the GIL". */
static void name_of(char *out, size_t room, const struct report_data *data,
                    const struct report_wait *w, const char *awaited)
{
    const char *call = data->calls.all.at[w->call];

    if (waits_for_gil(data, w->stack)) {
        snprintf(out, room, REPORT_WAIT_GIL);
        return;
    }

    snprintf(out, room, "%s%s%s%s%s", sfb_recording_state_str(w->state), call[0] ? " in " : "",
             call, awaited[0] ? " " : "", awaited);
}

/* @param awaited  "": not wanted. @return false: no memory */
static bool stack_of(struct report_maker *m, const struct report_wait *w, const char *awaited,
                     uint32_t *out)
{
    const struct report_data *data = m->model->sources[m->source].data;
    char name[NAME];
    uint32_t stack;

    name_of(name, sizeof name, data, w, awaited);
    return report_maker_stack(m, w->stack, w->time, &stack) &&
           report_maker_waiting(m, stack, name, out);
}

/* @return false: no memory */
static bool add_idle(struct report_maker *m, const struct report_wait *w, uint32_t pool,
                     uint64_t weight)
{
    struct report_model *model = m->model;
    struct report_member *member = &model->members.at[m->first_member + w->thread];
    struct report_idle *idle;

    while (model->idle.count <= pool)
        if (!REPORT_NEXT(model->idle))
            return false;
    idle = &model->idle.at[pool];
    if (idle->threads == 0) {
        idle->name = member->thread->name;
        if (!stack_of(m, w, "", &idle->stack))
            return false;
    }
    idle->threads += report_idle_count(member->thread);
    idle->weight = report_saturated(idle->weight, weight);
    member->idle = true;
    return true;
}

/* Pools are known by stack, state and call. */
static bool add_pools(struct report_maker *m, const struct report_idle_threads *threads)
{
    const struct report_data *data = m->model->sources[m->source].data;
    const uint32_t first = (uint32_t)m->model->idle.count;
    struct report_index pools = { .count = 0 };
    bool good = true;

    for (size_t i = 0; good && i < data->threads.count; i++) {
        const uint32_t wait = threads->waits[i];
        const struct report_wait *w = wait == REPORT_NONE ? NULL : &data->waits.at[wait];
        uint32_t pool;
        bool known;

        if (!w)
            continue;
        good = report_index_find(&pools, report_idle_stack(threads, w),
                                 (uint64_t)w->state << 32 | w->call,
                                 (uint32_t)m->model->idle.count - first, &pool, &known) &&
               add_idle(m, w, first + pool, threads->weights[i]);
    }
    report_index_free(&pools);
    return good;
}

bool report_make_idle(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;
    struct report_idle_threads threads;
    bool *wanted, good;

    if (m->choice->time_value == REPORT_TIME_CPU || data->waits.count == 0)
        return true;
    wanted = calloc(data->threads.count + 1, sizeof *wanted);
    for (size_t i = 0; wanted && i < data->threads.count; i++)
        wanted[i] = m->model->members.at[m->first_member + i].wanted;
    good = wanted && report_idle_threads_find(&threads, data, wanted);
    if (good) {
        good = add_pools(m, &threads);
        report_idle_threads_free(&threads);
    }
    free(wanted);
    return good;
}

/* --- Waits ------------------------------------------------------------------------------------- */

/* The part of a wait that was wanted. @return ns */
static uint64_t clip(const struct report_choice *c, uint64_t *from, uint64_t *to)
{
    *from = *from > c->from ? *from : c->from;
    *to = c->to > 0 && *to > c->to ? c->to : *to;
    return *to > *from ? *to - *from : 0;
}

/* @return ns of a point of a wait */
static uint64_t point_of(const struct report_model *model, uint64_t weight)
{
    const uint64_t least = weight / POINTS_OF_WAIT + 1;

    if (model->points.count >= POINTS_MOST)
        return weight;
    return least > point_ns ? least : point_ns;
}

static bool add_points(struct report_model *model, uint64_t from, uint64_t to, uint32_t row)
{
    const uint64_t most = point_of(model, to - from);

    while (from < to) {
        const uint64_t step = to - from < most ? to - from : most;
        struct report_point *point = REPORT_NEXT(model->points);

        if (!point)
            return false;
        from += step;
        *point = (struct report_point){ from, step, row };
    }
    return true;
}

static bool add_wait(struct report_maker *m, const struct report_wait *w)
{
    struct report_model *model = m->model;
    const struct report_data *data = model->sources[m->source].data;
    const uint64_t start = data->start.monotonic;
    const uint32_t member = m->first_member + w->thread;
    uint64_t to = w->time > start ? w->time - start : 0, from = to > w->weight ? to - w->weight : 0;
    const uint64_t weight = clip(m->choice, &from, &to);
    const char *awaited = "";
    struct report_row *row;
    uint32_t stack;
    bool wanted;

    if (weight == 0 || !model->members.at[member].wanted || model->members.at[member].idle ||
        !report_choice_has_stack(m->choice, data, w->stack))
        return true;
    if (m->choice->awaited && !report_awaited_name(m, w, &awaited))
        return false;
    if (!stack_of(m, w, awaited, &stack) || !report_maker_wants(m, stack, &wanted))
        return false;
    if (!wanted)
        return true;
    if (w->state == SFB_STATE_UNKNOWN)
        model->unplaced = report_saturated(model->unplaced, weight);
    if (m->choice->awaited && !report_lock_add(m, w, awaited, weight))
        return false;
    if (m->ends && !report_waker_add(m, w, stack, weight))
        return false;
    row = report_maker_row(m, member, stack);
    if (!row || !add_points(model, from, to, (uint32_t)(row - model->rows.at)))
        return false;
    row->values[REPORT_VALUE_SAMPLES]++;
    row->values[REPORT_VALUE_TIME] += weight;
    model->totals[REPORT_VALUE_SAMPLES]++;
    model->totals[REPORT_VALUE_TIME] += weight;
    model->truncated += model->stacks.at[stack].truncated;
    model->by_end[w->end < 255 ? w->end : 255]++;
    return true;
}

/* @return false: no memory */
static bool begin_causes(struct report_maker *m)
{
    if (!m->choice->awaited && !m->choice->ended)
        return true;
    if (!report_causes_begin(m))
        return false;
    report_wakers_begin(m);
    return !m->choice->awaited || report_locks_begin(m);
}

bool report_make_waits(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;
    bool good = begin_causes(m);

    for (size_t i = 0; good && i < data->waits.count; i++)
        if (report_time_has_wait(m->choice->time_value, data->waits.at[i].state))
            good = add_wait(m, &data->waits.at[i]);
    report_locks_end(m);
    report_causes_end(m);
    return good;
}
