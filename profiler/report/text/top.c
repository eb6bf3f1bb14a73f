#include "profiler/report/text/top.h"

#include <stdlib.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/tally.h"

static void write_row(FILE *to, const struct report_columns *columns, const struct report_tally *t,
                      uint32_t entity)
{
    const struct report_entity *e = &t->entities.all.at[entity];

    report_columns_put(to, columns, &t->figures.at[entity].self[0],
                       &t->figures.at[entity].total[0]);
    report_name_put_in(to, columns->style, e->name, e->module, report_columns_room(columns));
    fputc('\n', to);
}

static void write_table(FILE *to, const struct report_style *style, const struct report_tally *t,
                        const struct report_top *top, const uint32_t *order, size_t count)
{
    struct report_columns columns;
    size_t shown = 0, others = 0;
    struct report_amount self = report_exactly(0);

    report_columns_make(&columns, style, t->entities.model, t->all[0].value,
                        report_by_is_called(top->by));
    report_columns_head(to, &columns, report_by_heading(top->by));
    for (size_t i = 0; i < count; i++) {
        const struct report_figure *f = &t->figures.at[order[i]];

        if ((top->rows > 0 && shown == top->rows) ||
            report_share(f->total[0].value, t->all[0].value) < top->percent) {
            others++;
            report_amount_add(&self, &f->self[0]);
            continue;
        }
        write_row(to, &columns, t, order[i]);
        shown++;
    }
    if (others > 0) {
        report_columns_put_sum(to, &columns, &self);
        fprintf(to, "[%zu more]\n", others);
    }
}

bool report_top_write(FILE *to, const struct report_model *model, const struct report_style *style,
                      const struct report_top *top)
{
    struct report_tally tally;
    uint32_t *order = NULL;
    size_t count;
    bool good = report_tally_make(&tally, model, top->by);

    if (good)
        order = report_tally_order(&tally, top->sort, false, &count);
    if (order)
        write_table(to, style, &tally, top, order, count);
    free(order);
    report_tally_free(&tally);
    return order != NULL;
}
