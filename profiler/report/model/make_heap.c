#include "profiler/report/model/make_heap.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/heap_values.h"

void report_make_heap_types(struct report_model *model)
{
    static const struct report_value_type types[REPORT_VALUES] = {
        [REPORT_ALLOC_OBJECTS] = { "alloc_objects", "count" },
        [REPORT_ALLOC_SPACE] = { "alloc_space", "bytes" },
        [REPORT_INUSE_OBJECTS] = { "inuse_objects", "count" },
        [REPORT_INUSE_SPACE] = { "inuse_space", "bytes" },
        [REPORT_PEAK_OBJECTS] = { "peak_objects", "count" },
        [REPORT_PEAK_SPACE] = { "peak_space", "bytes" },
        [REPORT_TEMPORARY_OBJECTS] = { "temporary_objects", "count" },
        [REPORT_TEMPORARY_SPACE] = { "temporary_space", "bytes" },
    };

    model->heap = model->live_only = true;
    memcpy(model->types, types, sizeof types);
    model->type_count = REPORT_VALUES;
    model->main = REPORT_INUSE_SPACE;
}

static void add_amount(struct report_model *model, struct report_row *row, size_t type,
                       const struct report_amount *amount)
{
    row->values[type] = report_saturated(row->values[type], amount->value);
    row->estimates->variances[type] += amount->variance;
    row->estimates->samples[type] =
        report_saturated(row->estimates->samples[type], amount->samples);
    model->totals[type] = report_saturated(model->totals[type], amount->value);
    model->variances[type] += amount->variance;
    model->sampled[type] = report_saturated(model->sampled[type], amount->samples);
}

/* @return false: no memory */
static bool add_site(struct report_maker *m, uint32_t number,
                     const struct report_heap_values *values)
{
    struct report_model *model = m->model;
    const struct report_data *data = model->sources[m->source].data;
    const struct report_heap_site *site = &data->heap.sites.at[number];
    const uint32_t member = m->first_member + site->thread;
    uint64_t modules = site->modules;
    struct report_site *kept;
    struct report_row *row;
    uint32_t stack;
    bool wanted;

    if (!model->members.at[member].wanted)
        return true;
    /* A dump of what lives says with its sums when its modules were there. */
    if (site->totals != REPORT_NONE && (data->heap.heaps.at[site->heap].flags & SFB_HEAP_LIVE))
        modules = data->heap.totals.at[site->totals].time;
    if (!report_maker_stack(m, site->stack, modules, &stack) ||
        !report_maker_wants(m, stack, &wanted))
        return false;
    if (!wanted)
        return true;
    row = report_maker_row(m, member, stack);
    kept = REPORT_NEXT(model->sites);
    if (!row || !kept)
        return false;
    for (size_t i = 0; i < REPORT_VALUES; i++)
        add_amount(model, row, i, &values->of[i]);
    for (size_t i = 0; i < 2; i++)
        model->shrunk[i] = report_saturated(model->shrunk[i], values->shrunk[i]);
    if (stack != REPORT_NONE && model->stacks.at[stack].truncated)
        model->truncated =
            report_saturated(model->truncated, values->of[REPORT_ALLOC_OBJECTS].value);
    *kept = (struct report_site){ .row = (uint32_t)(row - model->rows.at),
                                  .source = m->source,
                                  .site = site,
                                  .totals = site->totals == REPORT_NONE
                                                ? NULL
                                                : &data->heap.totals.at[site->totals] };
    return true;
}

bool report_make_heap(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;
    struct report_heap_values *values;
    uint64_t nearest;
    bool good = report_heap_values_make(&values, data, m->choice, &nearest);

    if (nearest > 0)
        m->model->nearest = nearest;
    for (size_t i = 0; i < data->heap.heaps.count; i++) {
        m->model->estimated |= data->heap.heaps.at[i].rate > 0;
        m->model->live_only &= (data->heap.heaps.at[i].flags & SFB_HEAP_LIVE) != 0;
    }
    for (uint32_t i = 0; good && i < data->heap.sites.count; i++)
        good = add_site(m, i, &values[i]);
    free(values);
    return good;
}

void report_make_heap_main(struct report_model *model)
{
    static const enum report_heap_type types[] = { [REPORT_HEAP_USUAL] = REPORT_INUSE_OBJECTS,
                                                   [REPORT_HEAP_ALLOCATED] = REPORT_ALLOC_OBJECTS,
                                                   [REPORT_HEAP_LIVE] = REPORT_INUSE_OBJECTS,
                                                   [REPORT_HEAP_PEAK] = REPORT_PEAK_OBJECTS,
                                                   [REPORT_HEAP_TEMPORARY] =
                                                       REPORT_TEMPORARY_OBJECTS };

    model->main = types[model->choice.value];
    if (model->choice.value == REPORT_HEAP_USUAL && !report_choice_is_timed(&model->choice) &&
        model->totals[REPORT_INUSE_OBJECTS] == 0)
        model->main = REPORT_PEAK_OBJECTS;
    model->main += model->choice.blocks ? 0 : 1;
}
