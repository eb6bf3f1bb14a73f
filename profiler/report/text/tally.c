#include "profiler/report/text/tally.h"

#include <stdlib.h>
#include <string.h>

/* @return what was never sampled of a group */
static uint64_t group_unsampled(const struct report_model *model, uint32_t group)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < model->members.count; i++)
        if (model->sources[model->members.at[i].source].group == group)
            sum += report_member_unsampled(model, &model->members.at[i]);
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; model->sources[i].group == group && k < data->processes.count; k++)
            sum += report_process_unsampled(model, &data->processes.at[k]);
    }
    return sum;
}

struct report_amount report_group_all(const struct report_model *model, uint32_t group)
{
    struct report_amount sum = report_exactly(group_unsampled(model, group));

    for (size_t i = 0; i < model->rows.count; i++) {
        const struct report_amount own = report_amount_of(model, &model->rows.at[i]);

        if (model->rows.at[i].group == group)
            report_amount_add(&sum, &own);
    }
    return sum;
}

struct report_amount report_all(const struct report_model *model)
{
    const struct report_amount old = report_group_all(model, 0), new = report_group_all(model, 1);

    return report_amount_sum(&old, &new);
}

static void count_stack(struct report_tally *t, const struct report_weights *weights, size_t index)
{
    const struct report_weighed *w = &weights->at[index];
    struct report_steps steps = report_steps_of(t->entities.model, w->stack);
    struct report_step step;

    for (bool leaf = true; report_steps_next(&steps, &step); leaf = false) {
        struct report_figure *f = &t->figures.at[report_entity_of_step(&t->entities, &step)];

        for (size_t g = 0; g < REPORT_GROUPS; g++) {
            if (f->last != index + 1)
                report_amount_add(&f->total[g], &w->of[g]);
            if (leaf)
                report_amount_add(&f->self[g], &w->of[g]);
        }
        f->last = index + 1;
    }
}

/* @return false: no memory */
static bool count_stacks(struct report_tally *t)
{
    struct report_weights weights;
    const bool good = report_weights_make(&weights, t->entities.model);

    for (size_t i = 0; good && i < weights.count; i++)
        if (report_weighed_sum(&weights.at[i]).value > 0)
            count_stack(t, &weights, i);
    report_weights_free(&weights);
    return good;
}

/* What no stack has. */
static void count_whole(struct report_tally *t, uint32_t entity, uint32_t group,
                        struct report_amount weight)
{
    report_amount_add(&t->figures.at[entity].self[group], &weight);
    report_amount_add(&t->figures.at[entity].total[group], &weight);
}

static bool make_room(struct report_tally *t)
{
    while (t->figures.count < t->entities.all.count)
        if (!REPORT_NEXT(t->figures))
            return false;
    return true;
}

static bool count_processes(struct report_tally *t)
{
    const struct report_model *model = t->entities.model;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_source *source = &model->sources[i];

        for (size_t k = 0; k < source->data->processes.count; k++) {
            const struct report_process *process = &source->data->processes.at[k];
            const uint64_t weight = report_process_unsampled(model, process);
            uint32_t entity;

            if (weight == 0)
                continue;
            if (!report_entity_of_process(&t->entities, process, &entity) || !make_room(t))
                return false;
            count_whole(t, entity, source->group, report_exactly(weight));
        }
    }
    return true;
}

bool report_tally_make(struct report_tally *out, const struct report_model *model,
                       enum report_by by)
{
    *out = (struct report_tally){ .figures = { .count = 0 } };
    if (!report_entities_make(&out->entities, model, by) || !make_room(out))
        return false;
    if (report_by_is_called(by) && !count_stacks(out))
        return false;
    for (size_t i = 0; !report_by_is_called(by) && i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];

        count_whole(out, report_entity_of_row(&out->entities, row), row->group,
                    report_amount_of(model, row));
    }
    for (size_t i = 0; i < model->members.count; i++) {
        const struct report_member *m = &model->members.at[i];

        count_whole(
            out, report_by_is_called(by) ? REPORT_ENTITY_UNSAMPLED : out->entities.of_member[i],
            model->sources[m->source].group, report_exactly(report_member_unsampled(model, m)));
    }
    for (uint32_t g = 0; g < REPORT_GROUPS; g++)
        out->all[g] = report_group_all(model, g);
    return count_processes(out);
}

/* --- Order ------------------------------------------------------------------------------------- */

static uint64_t size_of(int64_t change)
{
    return change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
}

/* Larger ones first. */
static int compare_values(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

static int compare_amounts(const struct report_amount x[REPORT_GROUPS],
                           const struct report_amount y[REPORT_GROUPS])
{
    return compare_values(report_saturated(x[0].value, x[1].value),
                          report_saturated(y[0].value, y[1].value));
}

static int compare_names(const struct report_tally *t, uint32_t x, uint32_t y)
{
    const struct report_entity *a = &t->entities.all.at[x], *b = &t->entities.all.at[y];
    int order = strcmp(a->name, b->name);

    if (order == 0)
        order = strcmp(a->module, b->module);
    return order != 0 ? order : (x > y) - (x < y);
}

/* What entities are sorted by. */
struct order {
    const struct report_tally *tally;
    enum report_sort sort;
    bool comparison;
};

static int compare_by(const struct order *o, enum report_sort by, const struct report_figure *f,
                      const struct report_figure *g)
{
    const struct report_amount *x = by == REPORT_SORT_SELF ? f->self : f->total,
                               *y = by == REPORT_SORT_SELF ? g->self : g->total;

    return o->comparison ? compare_values(size_of(report_change(x)), size_of(report_change(y)))
                         : compare_amounts(x, y);
}

static int compare_both(const struct order *o, const struct report_figure *f,
                        const struct report_figure *g)
{
    const enum report_sort other =
        o->sort == REPORT_SORT_SELF ? REPORT_SORT_TOTAL : REPORT_SORT_SELF;
    const int order = compare_by(o, o->sort, f, g);

    return order != 0 ? order : compare_by(o, other, f, g);
}

static int compare(const void *a, const void *b, void *user)
{
    const struct order *o = user, plain = { o->tally, o->sort, false };
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct report_figure *f = &o->tally->figures.at[x], *g = &o->tally->figures.at[y];
    int order = compare_both(o, f, g);

    if (order == 0 && o->comparison)
        order = compare_both(&plain, f, g);
    return order != 0 ? order : compare_names(o->tally, x, y);
}

uint32_t *report_tally_order(const struct report_tally *t, enum report_sort sort, bool comparison,
                             size_t *count)
{
    struct order order = { t, sort, comparison };
    uint32_t *out = calloc(t->figures.count + 1, sizeof *out);

    *count = 0;
    for (size_t i = 0; out && i < t->figures.count; i++)
        if (t->figures.at[i].total[0].value > 0 || t->figures.at[i].total[1].value > 0)
            out[(*count)++] = (uint32_t)i;
    if (out)
        qsort_r(out, *count, sizeof *out, compare, &order);
    return out;
}

void report_tally_free(struct report_tally *t)
{
    report_entities_free(&t->entities);
    free(t->figures.at);
}
