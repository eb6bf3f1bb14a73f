#include "profiler/report/model/make.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/make_heap.h"
#include "profiler/report/model/make_waits.h"

/* @return the row; NULL: no memory */
static struct report_row *row_of(struct report_maker *m, const struct report_sample *sample,
                                 uint32_t member, uint32_t stack)
{
    struct report_maker_last *last = sample->stack == REPORT_NONE ? NULL : &m->last[sample->stack];
    struct report_row *row;

    if (last && last->row != REPORT_NONE && last->member == member)
        return &m->model->rows.at[last->row];
    row = report_maker_row(m, member, stack);
    if (row && last) {
        last->member = member;
        last->row = (uint32_t)(row - m->model->rows.at);
    }
    return row;
}

/* @return false: no memory */
static bool add_sample(struct report_maker *m, const struct report_sample *sample)
{
    struct report_model *model = m->model;
    const struct report_data *data = model->sources[m->source].data;
    const uint64_t start = data->start.monotonic;
    const uint64_t time = sample->time > start ? sample->time - start : 0;
    const uint32_t member = m->first_member + sample->thread;
    struct report_point *point;
    struct report_row *row;
    uint32_t stack;
    bool wanted;

    if (!model->members.at[member].wanted || model->members.at[member].idle ||
        !report_choice_has_time(m->choice, time) ||
        !report_choice_has_stack(m->choice, data, sample->stack))
        return true;
    if (!report_maker_stack(m, sample->stack, sample->time, &stack) ||
        !report_maker_wants(m, stack, &wanted))
        return false;
    if (!wanted)
        return true;
    row = row_of(m, sample, member, stack);
    point = REPORT_NEXT(model->points);
    if (!row || !point)
        return false;
    row->values[REPORT_VALUE_SAMPLES]++;
    row->values[REPORT_VALUE_TIME] += sample->weight;
    *point = (struct report_point){ time, sample->weight, (uint32_t)(row - model->rows.at) };
    model->totals[REPORT_VALUE_SAMPLES]++;
    model->totals[REPORT_VALUE_TIME] += sample->weight;
    model->truncated += stack != REPORT_NONE && model->stacks.at[stack].truncated;
    model->by_end[sample->end < 255 ? sample->end : 255]++;
    model->members.at[member].ways[sample->engine >= SFB_ENGINE_OUTSIDE] += sample->weight;
    if (sample->engine < 8 && sample->engine != data->start.engine)
        model->by_other[sample->engine]++;
    return true;
}

/* @return false: no memory */
static bool add_members(struct report_maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    m->first_member = (uint32_t)m->model->members.count;
    for (size_t i = 0; i < data->threads.count; i++) {
        const struct report_thread *thread = &data->threads.at[i];
        const struct report_process *process = &data->processes.at[thread->process];
        struct report_member *member = REPORT_NEXT(m->model->members);

        if (!member)
            return false;
        *member = (struct report_member){ .source = m->source,
                                          .thread = thread,
                                          .process = process,
                                          .wanted = report_choice_has_process(m->choice, process) &&
                                                    report_choice_has_thread(m->choice, thread) };
    }
    return true;
}

static void add_unsampled(struct report_model *model)
{
    for (size_t i = 0; i < model->members.count; i++)
        model->unsampled += report_member_unsampled(model, &model->members.at[i]);
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->processes.count; k++)
            model->unsampled += report_process_unsampled(model, &data->processes.at[k]);
    }
}

static bool add_source(struct report_maker *m, uint32_t source)
{
    const struct report_data *data = m->model->sources[source].data;
    bool good;

    m->source = source;
    report_choice_use_marks(&m->model->choice, data);
    report_index_clear(&m->stacks);
    report_index_clear(&m->rows); /* of its threads alone */
    m->stack_count = 0;
    free(m->last);
    m->last = calloc(data->stacks.count + 1, sizeof *m->last);
    good = m->last && add_members(m);
    if (good && m->model->heap)
        return report_make_heap(m);
    good = good && report_make_idle(m);
    for (size_t i = 0;
         good && report_time_has_cpu(m->choice->time_value) && i < data->samples.count; i++)
        good = add_sample(m, &data->samples.at[i]);
    return good && report_make_waits(m);
}

bool report_model_make(struct report_model *out, const struct report_source *sources, size_t count,
                       const struct report_choice *choice)
{
    return report_model_make_from(out, sources, count, choice, NULL);
}

bool report_model_make_from(struct report_model *out, const struct report_source *sources,
                            size_t count, const struct report_choice *choice,
                            const struct report_feed *feed)
{
    static const struct report_choice all = { .from = 0 };
    const struct report_choice *c = choice ? choice : &all;
    struct report_maker m = { .model = out, .choice = &out->choice };
    bool good = true;

    *out = (struct report_model){ .sources = sources,
                                  .source_count = count,
                                  .types = { [REPORT_VALUE_SAMPLES] = { "samples", "count" },
                                             [REPORT_VALUE_TIME] = { "cpu", "nanoseconds" } },
                                  .type_count = 2,
                                  .main = REPORT_VALUE_TIME,
                                  .choice = *c };
    report_locator_begin(&m.locator, out, c->no_inlines);
    for (size_t i = 0; good && i < count; i++) {
        good = !feed || feed->open(feed->user, i);
        if (good && i == 0 && report_data_is_heap(sources[0].data))
            report_make_heap_types(out);
        else if (good && i == 0)
            report_make_time_type(out, sources[0].data);
        good = good && add_source(&m, (uint32_t)i);
        if (good && feed)
            feed->merged(feed->user, i);
    }
    if (good)
        add_unsampled(out);
    if (good && out->heap)
        report_make_heap_main(out);
    report_maker_end(&m);
    return good;
}
