#include "profiler/report/formats/heap_groups.h"

#include <stdlib.h>

#include "profiler/report/model/replay.h"

/* A run again, event by event. */
struct course {
    struct report_heap_groups *groups;
    uint32_t *group_of; /* of each site of the recording; REPORT_NONE: not wanted */
    struct sfb_recording_heap_sum *live; /* of each group */
    uint64_t *microseconds;              /* of each group: frees less allocations, modulo 2^64 */
};

/* --- What the model has ------------------------------------------------------------------------- */

static void add_sum(struct sfb_recording_heap_sum *to, const struct report_row *row, size_t type)
{
    to->blocks = report_saturated(to->blocks, row->values[type]);
    to->bytes = report_saturated(to->bytes, row->values[type + 1]);
}

static bool add_rows(struct report_heap_groups *g, const struct report_model *model,
                     uint32_t *group_of_row)
{
    uint32_t *of_stack = calloc(model->stacks.count + 1, sizeof *of_stack); /* + 1; 0: none */

    for (size_t i = 0; of_stack && i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];
        uint32_t *at = &of_stack[row->stack == REPORT_NONE ? model->stacks.count : row->stack];
        struct report_heap_group *group;

        if (*at == 0) {
            group = REPORT_NEXT(g->all);
            if (!group) {
                free(of_stack);
                return false;
            }
            group->stack = row->stack;
            *at = (uint32_t)g->all.count;
        }
        group_of_row[i] = *at - 1;
        group = &g->all.at[*at - 1];
        add_sum(&group->allocated, row, REPORT_ALLOC_OBJECTS);
        add_sum(&group->live, row, REPORT_INUSE_OBJECTS);
        add_sum(&group->peak, row, REPORT_PEAK_OBJECTS);
    }
    free(of_stack);
    return of_stack != NULL;
}

/* --- What its events have ----------------------------------------------------------------------- */

static void add_event(struct course *c, const struct report_heap_data *heap, uint32_t event,
                      uint64_t us)
{
    const struct report_heap_pair *pair = &heap->pairs.at[event >> 1];
    const uint32_t number = c->group_of[pair->site];
    const uint64_t rate = heap->heaps.at[heap->sites.at[pair->site].heap].rate;
    struct sfb_recording_heap_sum *live;
    struct report_heap_group *group;
    struct report_amount blocks, bytes;

    if (number == REPORT_NONE)
        return;
    live = &c->live[number];
    group = &c->groups->all.at[number];
    group->has_events = true;
    report_estimate(rate, pair->size, 1, &blocks, &bytes);
    if (event & 1) {
        live->blocks -= blocks.value < live->blocks ? blocks.value : live->blocks;
        live->bytes -= bytes.value < live->bytes ? bytes.value : live->bytes;
        c->microseconds[number] += us * blocks.value;
        return;
    }
    live->blocks = report_saturated(live->blocks, blocks.value);
    live->bytes = report_saturated(live->bytes, bytes.value);
    c->microseconds[number] -= us * blocks.value;
    if (live->bytes > group->most.bytes ||
        (live->bytes == group->most.bytes && live->blocks > group->most.blocks))
        group->most = *live;
}

static void run(struct course *c, const struct report_data *data)
{
    const struct report_heap_data *heap = &data->heap;

    for (size_t m = 0; m < heap->marks.count; m++) {
        const struct report_heap_mark *mark = &heap->marks.at[m];
        const size_t end =
            m + 1 < heap->marks.count ? heap->marks.at[m + 1].event : heap->events.count;
        const uint64_t us =
            mark->time > data->start.monotonic ? (mark->time - data->start.monotonic) / 1000 : 0;

        for (size_t i = mark->event; i < end; i++)
            add_event(c, heap, heap->events.at[i], us);
    }
}

/* @return ns that blocks lived which were freed: the middle of each class */
static uint64_t lifetimes_of(const struct sfb_recording_heap_totals *totals)
{
    double sum = 0.0;

    for (unsigned k = 1; k < SFB_HEAP_CLASSES; k++)
        sum += (double)totals->lifetimes[k] * 0.75 * (double)(UINT64_C(1) << k);
    return report_rounded(sum);
}

/* Blocks that live at the end are in the events alone: what those count in steps of 10 ms is exact enough for them. */
static void add_lifetimes(const struct course *c, uint64_t end_us)
{
    for (size_t i = 0; i < c->groups->all.count; i++) {
        struct report_heap_group *group = &c->groups->all.at[i];
        const uint64_t us = c->microseconds[i] + c->live[i].blocks * end_us;

        if (!group->has_events || us > UINT64_MAX / 1000)
            continue;
        if ((c->live[i].blocks > 0 || group->lifetimes == 0) && us * 1000 > group->lifetimes)
            group->lifetimes = us * 1000;
    }
}

/* @return false: no memory */
static bool add_events(struct course *c, const struct report_model *model, uint32_t source)
{
    const struct report_data *data = model->sources[source].data;

    for (size_t i = 0; i < data->heap.sites.count; i++)
        c->group_of[i] = REPORT_NONE;
    for (size_t i = 0; i < model->sites.count; i++) {
        const struct report_site *site = &model->sites.at[i];
        struct report_heap_group *group = &c->groups->all.at[c->groups->of_site[i]];

        if (site->source != source)
            continue;
        c->group_of[site->site - data->heap.sites.at] = c->groups->of_site[i];
        if (site->totals)
            group->lifetimes = report_saturated(group->lifetimes, lifetimes_of(site->totals));
    }
    run(c, data);
    add_lifetimes(c, (report_data_end(data) - data->start.monotonic) / 1000);
    return true;
}

static bool add_source(struct report_heap_groups *g, const struct report_model *model,
                       uint32_t source)
{
    struct course c = { .groups = g,
                        .group_of = calloc(model->sources[source].data->heap.sites.count + 1,
                                           sizeof *c.group_of),
                        .live = calloc(g->all.count + 1, sizeof *c.live),
                        .microseconds = calloc(g->all.count + 1, sizeof *c.microseconds) };
    const bool good = c.group_of && c.live && c.microseconds && add_events(&c, model, source);

    free(c.group_of);
    free(c.live);
    free(c.microseconds);
    return good;
}

/* Of a dump of what lives nothing else is known: it is the least that was allocated, and that lived at the peak. */
static void complete(struct report_heap_group *group, bool live_only)
{
    if (live_only)
        group->allocated = group->peak = group->live;
    if (group->peak.bytes > group->most.bytes)
        group->most = group->peak;
    if (group->live.bytes > group->most.bytes)
        group->most = group->live;
}

bool report_heap_groups_make(struct report_heap_groups *out, const struct report_model *model)
{
    uint32_t *group_of_row = calloc(model->rows.count + 1, sizeof *group_of_row);
    bool good;

    *out = (struct report_heap_groups){ .of_site =
                                            calloc(model->sites.count + 1, sizeof *out->of_site) };
    good = group_of_row && out->of_site && add_rows(out, model, group_of_row);
    for (size_t i = 0; good && i < model->sites.count; i++)
        out->of_site[i] = group_of_row[model->sites.at[i].row];
    for (uint32_t i = 0; good && i < model->source_count; i++)
        good = add_source(out, model, i);
    for (size_t i = 0; good && i < out->all.count; i++)
        complete(&out->all.at[i], model->live_only);
    free(group_of_row);
    return good;
}

void report_heap_groups_free(struct report_heap_groups *groups)
{
    free(groups->all.at);
    free(groups->of_site);
    *groups = (struct report_heap_groups){ .of_site = NULL };
}

const char *report_heap_is_no_run(const struct report_model *model)
{
    if (!model->heap)
        return "the recording is of CPU time: sfb record --heap records a heap";
    if (report_choice_is_timed(&model->choice))
        return "it shows whole runs: --time, --at and --growth are not for it";
    return NULL;
}
