#include "profiler/report/text/diff.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/tally.h"

/* Widths of terminals from which there is room for all figures, and for times at all. */
enum { WIDE = 120, MEDIUM = 64, NAME_MIN = 12 };

/* Widths of values and of errors. */
enum { TIME_MIN = 10, ERROR_MIN = 9 };

struct diff {
    FILE *to;
    const struct report_style *style;
    const struct report_tally *tally;
    const struct report_unit *unit;
    const char *value; /* what of a heap it is; NULL */
    uint64_t base;     /* what 100 % is */
    unsigned time;     /* width of a value */
    unsigned error;    /* width of an error; 0: without errors */
    bool selfs, values, times;
    unsigned before; /* columns before a name */
};

/* Columns of a change's value and error. */
static unsigned change_width(const struct diff *d, bool times)
{
    return times ? d->time + 1 + (d->error > 0 ? d->error + 1 : 0) : 0;
}

static struct diff begin(FILE *to, const struct report_style *style, const struct report_tally *t)
{
    const struct report_model *model = t->entities.model;
    const uint64_t old = t->all[0].value, new = t->all[1].value, most = old > new ? old : new;
    struct diff d = { .to = to,
                      .style = style,
                      .tally = t,
                      .unit = report_unit_of(style, report_quantity_of(model), most),
                      .value = report_value_name(model),
                      .base = old > 0 ? old : new,
                      .selfs = report_by_is_called(t->entities.by),
                      .values = style->width == 0 || style->width >= WIDE,
                      .times = style->width == 0 || style->width >= MEDIUM };
    const int largest = snprintf(NULL, 0, "%+.*f", d.unit->decimals, report_in_unit(d.unit, most));

    const unsigned head =
        (unsigned)strlen(d.selfs ? "total ()" : "change ()") + (unsigned)strlen(d.unit->name);

    d.time = head > TIME_MIN ? head : TIME_MIN;
    if (largest > (int)d.time)
        d.time = (unsigned)largest;
    d.error = model->estimated ? ERROR_MIN : 0;
    d.before = (d.values ? 2 * (d.time + 2) : 0) + 10 + change_width(&d, d.times);
    if (d.selfs)
        d.before += change_width(&d, d.values) + 10;
    return d;
}

/* @return columns for a name; 0: as many as it takes */
static unsigned room_of(const struct diff *d)
{
    const unsigned width = d->style->width;

    if (width == 0)
        return 0;
    return width > d->before + NAME_MIN ? width - d->before : NAME_MIN;
}

static void put_value(const struct diff *d, uint64_t value)
{
    fprintf(d->to, "%*.*f  ", (int)d->time, d->unit->decimals, report_in_unit(d->unit, value));
}

static void put_change(const struct diff *d, const struct report_amount values[REPORT_GROUPS],
                       bool times)
{
    const struct report_amount both = report_amount_sum(&values[0], &values[1]);
    const int64_t change = report_change(values);
    const uint64_t size = change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
    const double sign = change < 0 ? -1.0 : 1.0;

    if (change != 0)
        report_colour(d->to, d->style, change > 0 ? REPORT_MORE : REPORT_LESS);
    if (times)
        fprintf(d->to, "%+*.*f ", (int)d->time, d->unit->decimals,
                sign * report_in_unit(d->unit, size));
    if (times && d->error > 0) {
        report_error_put(d->to, d->unit, &both, d->error);
        fputc(' ', d->to);
    }
    fprintf(d->to, "%+8.2f  ", sign * report_share(size, d->base));
    if (change != 0)
        report_colour(d->to, d->style, REPORT_PLAIN);
}

static void put_word(const struct diff *d, const char *word, int width, int blanks)
{
    fprintf(d->to, "%*s%*s", width, word, blanks, "");
}

static void put_error_head(const struct diff *d)
{
    if (d->error > 0)
        fprintf(d->to, "%*s%s ", (int)d->error - 1, "", "\u00b1");
}

static void put_head(const struct diff *d, const char *what)
{
    char text[96];

    report_colour(d->to, d->style, REPORT_BOLD);
    if (d->values) {
        snprintf(text, sizeof text, "old (%s)", d->unit->name);
        put_word(d, text, (int)d->time, 2);
        snprintf(text, sizeof text, "new (%s)", d->unit->name);
        put_word(d, text, (int)d->time, 2);
    }
    if (d->times) {
        snprintf(text, sizeof text, "%s (%s)", d->selfs ? "self" : "change", d->unit->name);
        put_word(d, text, (int)d->time, 1);
        put_error_head(d);
    }
    put_word(d, d->selfs ? "self %" : "change %", 8, 2);
    if (d->selfs && d->values) {
        snprintf(text, sizeof text, "total (%s)", d->unit->name);
        put_word(d, text, (int)d->time, 1);
        put_error_head(d);
    }
    if (d->selfs)
        put_word(d, "total %", 8, 2);
    snprintf(text, sizeof text, "%s%s%s", what, d->value ? ": " : "", d->value ? d->value : "");
    report_line_put(d->to, d->style, text, strlen(text), room_of(d));
    report_colour(d->to, d->style, REPORT_PLAIN);
    fputc('\n', d->to);
}

static void put_row(const struct diff *d, uint32_t entity)
{
    const struct report_figure *f = &d->tally->figures.at[entity];
    const struct report_entity *e = &d->tally->entities.all.at[entity];
    if (d->values) {
        put_value(d, f->self[0].value);
        put_value(d, f->self[1].value);
    }
    put_change(d, f->self, d->times);
    if (d->selfs)
        put_change(d, f->total, d->values);
    report_name_put_in(d->to, d->style, e->name, e->module, room_of(d));
    fputc('\n', d->to);
}

static void put_others(const struct diff *d, size_t count,
                       const struct report_amount values[REPORT_GROUPS])
{
    if (d->values) {
        put_value(d, values[0].value);
        put_value(d, values[1].value);
    }
    put_change(d, values, d->times);
    if (d->selfs)
        fprintf(d->to, "%*s", (int)(10 + change_width(d, d->values)), "");
    fprintf(d->to, "[%zu more]\n", count);
}

static void put_table(const struct diff *d, const struct report_top *top, const uint32_t *order,
                      size_t count)
{
    struct report_amount values[REPORT_GROUPS] = { { 0 }, { 0 } };
    size_t shown = 0, others = 0;

    put_head(d, report_by_heading(top->by));
    for (size_t i = 0; i < count; i++) {
        const struct report_figure *f = &d->tally->figures.at[order[i]];
        const int64_t change = report_change(f->total);
        const uint64_t size = change < 0 ? 0 - (uint64_t)change : (uint64_t)change;

        if ((top->rows == 0 || shown < top->rows) && report_share(size, d->base) >= top->percent) {
            put_row(d, order[i]);
            shown++;
            continue;
        }
        others++;
        report_amount_add(&values[0], &f->self[0]);
        report_amount_add(&values[1], &f->self[1]);
    }
    if (others > 0)
        put_others(d, others, values);
}

bool report_diff_write(FILE *to, const struct report_model *model, const struct report_style *style,
                       const struct report_top *top)
{
    struct report_tally tally;
    uint32_t *order = NULL;
    size_t count;

    if (report_tally_make(&tally, model, top->by))
        order = report_tally_order(&tally, top->sort, true, &count);
    if (order) {
        const struct diff d = begin(to, style, &tally);

        put_table(&d, top, order, count);
    }
    free(order);
    report_tally_free(&tally);
    return order != NULL;
}
