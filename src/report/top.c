#include "report/top.h"

#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"

struct entry {
    uint32_t function;
    uint64_t self, total;
    uint64_t last_row; /* + 1: that counted it */
};

static void count_location(struct entry *entries, const struct report_model *model,
                           uint32_t location, const struct report_row *row)
{
    const struct report_location *l = &model->locations.at[location];
    const uint64_t number = (uint64_t)(row - model->rows.at) + 1;

    for (uint32_t i = 0; i < l->count; i++) {
        struct entry *e = &entries[model->chains.at[l->at + i]];

        if (e->last_row != number)
            e->total += row->weight;
        e->last_row = number;
    }
}

static void count_row(struct entry *entries, const struct report_model *model,
                      const struct report_row *row)
{
    const struct report_stack *stack =
        row->stack == REPORT_NONE ? NULL : &model->stacks.at[row->stack];
    const uint32_t *frames;

    if (!stack || stack->count == 0)
        return;
    frames = model->frames.at + stack->at;
    for (uint32_t i = 0; i < stack->count; i++)
        if (frames[i] < model->locations.count)
            count_location(entries, model, frames[i], row);
    if (stack->count > 0 && frames[0] < model->locations.count &&
        model->locations.at[frames[0]].count > 0)
        entries[model->chains.at[model->locations.at[frames[0]].at]].self += row->weight;
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->function > y->function) - (x->function < y->function);
}

static void write_entry(FILE *to, const struct report_model *model, const struct entry *e,
                        uint64_t all)
{
    const struct report_function *f = &model->functions.all.at[e->function];

    fprintf(to, "%7.2f  %7.2f  ", 100.0 * (double)e->self / (double)all,
            100.0 * (double)e->total / (double)all);
    foreign_print(to, f->name);
    if (f->module[0]) {
        fputs(" (", to);
        foreign_print(to, f->module);
        fputc(')', to);
    }
    fputc('\n', to);
}

bool report_top_write(FILE *to, const struct report_model *model, size_t rows)
{
    const size_t count = model->functions.all.count;
    const uint64_t all = model->weight + model->unsampled;
    struct entry *entries = calloc(count + 1, sizeof *entries);
    size_t shown;

    if (!entries)
        return false;
    for (size_t i = 0; i < count; i++)
        entries[i].function = (uint32_t)i;
    for (size_t i = 0; i < model->rows.count; i++)
        count_row(entries, model, &model->rows.at[i]);
    qsort(entries, count, sizeof *entries, compare);
    shown = rows == 0 || rows > count ? count : rows;
    if (count > 0)
        fputs(" self %  total %  function (module)\n", to);
    for (size_t i = 0; i < shown; i++)
        write_entry(to, model, &entries[i], all ? all : 1);
    if (shown < count)
        fprintf(to, "%zu more functions: --top=0 shows all\n", count - shown);
    free(entries);
    return true;
}
