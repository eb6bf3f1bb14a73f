#include "report/top.h"

#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"

struct entry {
    uint32_t function;
    uint64_t self, total;
    uint64_t last_row; /* + 1: that counted it */
};

static void count_row(struct entry *entries, const struct report_model *model, size_t index)
{
    const struct report_row *row = &model->rows.at[index];
    struct report_steps steps = report_steps_of(model, row->stack);
    struct report_step step;

    for (bool leaf = true; report_steps_next(&steps, &step); leaf = false) {
        struct entry *e = step.line ? &entries[step.line->function] : NULL;

        if (!e)
            continue;
        if (e->last_row != index + 1)
            e->total += report_weight(model, row);
        e->last_row = index + 1;
        if (leaf)
            e->self += report_weight(model, row);
    }
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
    const struct report_function *f = &model->functions.at[e->function];
    const char *module = report_text(model, model->modules.at[f->module].name);

    fprintf(to, "%7.2f  %7.2f  ", 100.0 * (double)e->self / (double)all,
            100.0 * (double)e->total / (double)all);
    foreign_print(to, report_text(model, f->name));
    if (module[0]) {
        fputs(" (", to);
        foreign_print(to, module);
        fputc(')', to);
    }
    fputc('\n', to);
}

bool report_top_write(FILE *to, const struct report_model *model, size_t rows)
{
    const size_t count = model->functions.count;
    const uint64_t all = model->totals[model->main] + model->unsampled;
    struct entry *entries = calloc(count + 1, sizeof *entries);
    size_t shown;

    if (!entries)
        return false;
    for (size_t i = 0; i < count; i++)
        entries[i].function = (uint32_t)i;
    for (size_t i = 0; i < model->rows.count; i++)
        count_row(entries, model, i);
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
