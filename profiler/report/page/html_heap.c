/*
 * Events say what each row allocated and freed; states say what lived in all, exactly and without events, too. Events
 * have the time of their mark: steps are no shorter.
 */
#include "profiler/report/page/html_heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/model/replay.h"
#include "profiler/report/page/html_list.h"

/* Rows and steps that a page has room for: of more, steps are longer. */
enum { SHORTEST_NS = 10000000, MOMENTS_MAX = 1 << 20 };

/* Events of one recording on their way into moments. */
struct filling {
    struct html_time *time;
    const struct report_model *model;
    const struct report_data *data;
    struct report_index *index;
    uint32_t *row_of; /* of each site: + 1; 0: not wanted */
    bool failed, full;
};

static uint32_t step_of(const struct html_time *t, uint64_t time)
{
    const uint64_t step = time / t->step_ns;

    return step < t->steps ? (uint32_t)step : t->steps - 1;
}

static uint32_t live_step_of(const struct html_time *t, uint64_t time)
{
    const uint64_t step = time / t->live_step_ns;

    return step < t->live_steps ? (uint32_t)step : t->live_steps - 1;
}

/* 1, 2, 5, 10, ... times a power of ten. */
static uint64_t next_step(uint64_t step)
{
    uint64_t digit = step;

    while (digit >= 10)
        digit /= 10;
    return digit == 2 ? step / 2 * 5 : 2 * step;
}

static uint64_t since_start(const struct report_data *data, uint64_t time)
{
    return time > data->start.monotonic ? time - data->start.monotonic : 0;
}

static int64_t changed(int64_t from, uint64_t by, bool less)
{
    const int64_t change = by > INT64_MAX ? INT64_MAX : (int64_t)by;
    int64_t sum;

    if (less ? __builtin_sub_overflow(from, change, &sum)
             : __builtin_add_overflow(from, change, &sum))
        return less ? INT64_MIN : INT64_MAX;
    return sum;
}

/* --- Events -------------------------------------------------------------------------------------- */

static struct html_moment *moment_of(struct filling *f, uint32_t step, uint32_t row)
{
    uint32_t at = 0;
    bool found = false;
    struct html_moment *moment;

    if (!report_index_find(f->index, step, row, (uint32_t)f->time->moments.count, &at, &found)) {
        f->failed = true;
        return NULL;
    }
    if (found)
        return &f->time->moments.at[at];
    moment = REPORT_NEXT(f->time->moments);
    f->failed |= !moment;
    f->full |= f->time->moments.count > MOMENTS_MAX;
    if (moment) {
        moment->step = step;
        moment->row = row;
    }
    return moment;
}

static void add_event(struct filling *f, uint32_t event, uint32_t step)
{
    const struct report_heap_data *heap = &f->data->heap;
    const struct report_heap_pair *pair = &heap->pairs.at[event >> 1];
    const uint32_t row = f->row_of[pair->site];
    const uint64_t rate = heap->heaps.at[heap->sites.at[pair->site].heap].rate;
    struct html_moment *moment = row > 0 ? moment_of(f, step, row - 1) : NULL;
    struct report_amount blocks, bytes;
    const bool freed = event & 1;

    if (!moment)
        return;
    report_estimate(rate, pair->size, 1, &blocks, &bytes);
    moment->blocks = changed(moment->blocks, blocks.value, freed);
    moment->bytes = changed(moment->bytes, bytes.value, freed);
    if (freed)
        return;
    moment->count = report_saturated(moment->count, blocks.value);
    moment->weight = report_saturated(moment->weight, bytes.value);
}

static void add_events(struct filling *f)
{
    const struct report_heap_data *heap = &f->data->heap;

    for (size_t m = 0; m < heap->marks.count && !f->failed && !f->full; m++) {
        const uint64_t time = since_start(f->data, heap->marks.at[m].time);
        const size_t end =
            m + 1 < heap->marks.count ? heap->marks.at[m + 1].event : heap->events.count;

        if (report_choice_has_time(&f->model->choice, time))
            for (size_t i = heap->marks.at[m].event; i < end; i++)
                add_event(f, heap->events.at[i], step_of(f->time, time));
    }
}

static bool add_source(struct html_time *time, const struct report_model *model, uint32_t source,
                       struct report_index *index, bool *full)
{
    struct filling f = {
        .time = time, .model = model, .data = model->sources[source].data, .index = index
    };

    f.row_of = calloc(f.data->heap.sites.count + 1, sizeof *f.row_of);
    for (size_t i = 0; f.row_of && i < model->sites.count; i++)
        if (model->sites.at[i].source == source)
            f.row_of[model->sites.at[i].site - f.data->heap.sites.at] = model->sites.at[i].row + 1;
    if (f.row_of)
        add_events(&f);
    f.failed |= !f.row_of;
    *full |= f.full;
    free(f.row_of);
    return !f.failed;
}

/* --- What lived ---------------------------------------------------------------------------------- */

static void add_sum(struct sfb_recording_heap_sum *to, const struct sfb_recording_heap_sum *sum)
{
    to->blocks = report_saturated(to->blocks, sum->blocks);
    to->bytes = report_saturated(to->bytes, sum->bytes);
}

/* The most that a process had in each step is added to that of the others. Once it has ended it has nothing. */
static bool add_process(const struct html_time *time, struct html_live *live,
                        const struct report_data *data, const struct report_heap *heap)
{
    const struct report_process *process = &data->processes.at[heap->process];
    const uint32_t last = process->ended ? live_step_of(time, since_start(data, process->end_time))
                                         : time->live_steps - 1;
    struct sfb_recording_heap_sum *most = calloc(time->live_steps, sizeof *most), now = { 0, 0 };
    uint32_t step = 0;

    if (!most)
        return false;
    for (size_t i = 0; i < data->heap.states.count; i++) {
        const struct sfb_recording_heap_state *s = &data->heap.states.at[i];
        const uint32_t at = live_step_of(time, since_start(data, s->time));

        if (s->process != heap->process)
            continue;
        while (step < at)
            most[++step] = now;
        if (s->live.bytes >= most[step].bytes)
            most[step] = s->live;
        now = s->live;
    }
    while (step < last)
        most[++step] = now;
    for (uint32_t i = 0; i <= last; i++)
        add_sum(&live->steps[i], &most[i]);
    free(most);
    return true;
}

/* Of one process the peak is exact; that of several together is in the step in which they had most. */
static void find_peak(const struct html_time *time, struct html_live *live,
                      const struct report_data *data, const struct report_heap *heap, size_t count)
{
    if (count == 1 && heap->state != REPORT_NONE) {
        const struct sfb_recording_heap_state *s = &data->heap.states.at[heap->state];

        live->peak = s->peak;
        live->peak_time = since_start(data, s->peak_time);
        live->steps[live_step_of(time, live->peak_time)] = s->peak;
        return;
    }
    live->peak = (struct sfb_recording_heap_sum){ 0, 0 };
    for (uint32_t i = 0; i < time->live_steps; i++)
        if (live->steps[i].bytes > live->peak.bytes) {
            live->peak = live->steps[i];
            live->peak_time = i * time->live_step_ns;
        }
}

static bool add_live(struct html_time *time, const struct report_model *model)
{
    size_t counts[2] = { 0, 0 };

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;
        const uint32_t group = model->sources[i].group ? 1 : 0;
        struct html_live *live = &time->live[group];

        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const struct report_heap *heap = &data->heap.heaps.at[k];

            if (heap->state == REPORT_NONE ||
                !report_choice_has_process(&model->choice, &data->processes.at[heap->process]))
                continue;
            if (!live->steps)
                live->steps = calloc(time->live_steps, sizeof *live->steps);
            if (!live->steps || !add_process(time, live, data, heap))
                return false;
            find_peak(time, live, data, heap, ++counts[group]);
        }
    }
    return true;
}

/* --- All of it ----------------------------------------------------------------------------------- */

static uint64_t end_of(const struct report_model *model)
{
    uint64_t end = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;
        const uint64_t last = since_start(data, report_data_end(data));

        end = last > end ? last : end;
    }
    return end > UINT64_MAX / 1000 ? UINT64_MAX / 1000 : end; /* a damaged file may have any time */
}

static bool fill(struct html_time *out, const struct report_model *model, bool *full)
{
    struct report_index index = { .at = NULL };
    bool good = true;

    out->moments.count = 0;
    for (uint32_t i = 0; good && !*full && i < model->source_count; i++)
        good = add_source(out, model, i, &index, full);
    report_index_free(&index);
    return good;
}

static bool is_comparison(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].group)
            return true;
    return false;
}

bool html_heap_time_make(struct html_time *out, const struct report_model *model)
{
    const uint64_t end = end_of(model);
    bool good, full = false;

    *out = (struct html_time){ .step_ns = html_time_step(end, SHORTEST_NS) };
    out->live_step_ns = out->step_ns;
    do {
        out->steps = (uint32_t)(end / out->step_ns) + 1;
        full = false;
        good = fill(out, model, &full);
        if (good && full && out->steps > 1)
            out->step_ns = next_step(out->step_ns);
        else
            full = false;
    } while (full);
    out->live_steps =
        (uint32_t)((out->steps * out->step_ns + out->live_step_ns - 1) / out->live_step_ns);
    html_time_sort(out);
    out->memory.count = out->live_steps;
    out->memory.step_ns = out->live_step_ns;
    return good && add_live(out, model) &&
           (is_comparison(model) || html_memory_make(&out->memory, model));
}

static void put_sums(FILE *to, const char *name, const struct html_time *time,
                     const struct html_live *live, bool bytes)
{
    html_list_begin(to, name);
    for (uint32_t i = 0; i < time->live_steps; i++)
        html_list_number(to, i, bytes ? live->steps[i].bytes : live->steps[i].blocks);
    html_list_end(to, ",");
}

void html_heap_time_write(FILE *to, const struct html_time *time)
{
    const size_t groups = time->live[1].steps ? 2 : 1;

    fprintf(to, "\"liveStep\":%" PRIu64 ",", time->live_step_ns);
    html_list_begin(to, "live");
    for (size_t g = 0; g < groups && time->live[0].steps; g++) {
        const struct html_live *live = &time->live[g];

        fputs(g > 0 ? ",{" : "{", to);
        put_sums(to, "blocks", time, live, false);
        put_sums(to, "bytes", time, live, true);
        fprintf(to, "\"peak\":{\"at\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}",
                live->peak_time, live->peak.blocks, live->peak.bytes);
    }
    html_list_end(to, "");
    html_memory_write(to, &time->memory);
}
