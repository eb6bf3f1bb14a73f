#include "profiler/report/text/callers.h"

#include <stdlib.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/tally.h"
#include "profiler/report/text/tree.h"
#include "util/counted.h"

struct view {
    FILE *to;
    const struct report_model *model;
    struct report_entities entities;
    bool *wanted; /* of each entity */
    struct report_path path;
    struct report_tree callers, calls; /* the second is one level deep, two behind "[await]" */
    uint32_t itself;                   /* entity: its own time, among what it called */
    struct report_amount self, total;
};

static bool begin(struct view *v, const bool *wanted)
{
    struct report_entity *itself;

    if (!report_entities_make(&v->entities, v->model, REPORT_BY_FUNCTION) ||
        !report_tree_begin(&v->callers) || !report_tree_begin(&v->calls))
        return false;
    v->itself = (uint32_t)v->entities.all.count;
    itself = REPORT_NEXT(v->entities.all);
    if (!itself)
        return false;
    *itself = (struct report_entity){ "[itself]", "" };
    v->wanted = calloc(v->entities.all.count, sizeof *v->wanted);
    for (size_t i = 0; v->wanted && i < v->model->lines.count; i++)
        v->wanted[v->entities.of_line[i]] |= wanted[v->model->lines.at[i].function];
    return v->wanted != NULL;
}

/* Behind "[await]" stands what is awaited: that alone names no function. */
static bool add_called(struct view *v, size_t inner, const struct report_amount *weight)
{
    const uint32_t *steps = v->path.steps.at;
    uint32_t called[2] = { inner == 0 ? v->itself : steps[inner - 1] };
    const bool awaits = inner > 1 && called[0] == REPORT_ENTITY_AWAIT;

    if (awaits)
        called[1] = steps[inner - 2];
    return report_tree_add(&v->calls, called, awaits ? 2 : 1, weight);
}

static bool add_stack(struct view *v, const struct report_weighed *weighed)
{
    const struct report_amount weight = report_weighed_sum(weighed);
    size_t inner = SIZE_MAX, outer = 0;

    if (!report_path_of(&v->path, &v->entities, weighed->stack))
        return false;
    for (size_t i = 0; i < v->path.steps.count; i++)
        if (v->wanted[v->path.steps.at[i]]) {
            inner = inner == SIZE_MAX ? i : inner;
            outer = i;
        }
    if (inner == SIZE_MAX)
        return true;
    report_amount_add(&v->total, &weight);
    if (inner == 0)
        report_amount_add(&v->self, &weight);
    return report_tree_add(&v->callers, v->path.steps.at + outer + 1,
                           v->path.steps.count - outer - 1, &weight) &&
           add_called(v, inner, &weight);
}

/* @return the entity that is wanted; REPORT_NONE: there are several */
static uint32_t only_one(const struct view *v, size_t *count)
{
    uint32_t one = REPORT_NONE;

    *count = 0;
    for (size_t i = 0; i < v->entities.all.count; i++)
        if (v->wanted[i]) {
            one = (uint32_t)i;
            ++*count;
        }
    return *count == 1 ? one : REPORT_NONE;
}

static bool show(struct view *v, const struct report_style *style, double percent)
{
    const uint64_t all = report_all(v->model).value;
    size_t count;
    const uint32_t one = only_one(v, &count);
    struct report_columns columns;
    /* Each caller is what was asked for. */
    struct report_tree_look look = { &columns, &v->entities, NULL, percent, false };
    char several[sizeof(struct counted) + 2];
    bool good;

    snprintf(several, sizeof several, "[%s]", counted(count, "functions").text);
    look.root = one == REPORT_NONE ? several : v->entities.all.at[one].name;
    report_columns_make(&columns, style, v->model, all, true);
    report_columns_head(v->to, &columns, "function");
    report_columns_put(v->to, &columns, &v->self, &v->total);
    report_name_put(v->to, style, look.root, report_columns_room(&columns));
    fputs("\n\n", v->to);
    report_columns_make(&columns, style, v->model, all, false);
    report_columns_head(v->to, &columns, "called by");
    good = report_tree_show(v->to, &v->callers, &look);
    fputc('\n', v->to);
    report_columns_head(v->to, &columns, "calls");
    return good && report_tree_show(v->to, &v->calls, &look);
}

bool report_callers_write(FILE *to, const struct report_model *model,
                          const struct report_style *style, const bool *wanted, double percent)
{
    struct view v = { .to = to, .model = model };
    struct report_weights weights = { .count = 0 };
    bool good = begin(&v, wanted);

    good = good && report_weights_make(&weights, model);
    for (size_t i = 0; good && i < weights.count; i++)
        good = report_weighed_sum(&weights.at[i]).value == 0 || add_stack(&v, &weights.at[i]);
    good = good && show(&v, style, percent);
    report_weights_free(&weights);
    report_tree_free(&v.callers);
    report_tree_free(&v.calls);
    report_entities_free(&v.entities);
    free(v.wanted);
    free(v.path.steps.at);
    return good;
}
