#include "profiler/report/text/columns.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profiler/report/text/name.h"
#include "util/counted.h"

/* Widths of terminals from which there is room for times, for long bars, and for bars at all. */
enum { WIDE = 110, WIDE_ERRORS = 130, MEDIUM = 60, BAR_LONG = 16, BAR_SHORT = 10, NAME_MIN = 12 };

/* Widths of values, "total (ms)", and of errors, "few(3)". */
enum { TIME_MIN = 10, ERROR_MIN = 9 };

static void put_few(FILE *to, const struct report_amount *a)
{
    if (a->samples > 0 && a->samples < REPORT_SAMPLES_FEW)
        fprintf(to, " (few samples: %u)", (unsigned)a->samples);
}

static void put_amount(FILE *to, const struct report_amount *a, enum report_quantity quantity)
{
    static const struct report_style plain = { .width = 0 };
    const struct report_unit *unit = report_unit_of(&plain, quantity, a->value);

    if (unit->one == 1)
        fprintf(to, "%" PRIu64 " %s", a->value, counted_noun(a->value, unit->name).text);
    else
        fprintf(to, "%.2f %s", report_in_unit(unit, a->value), unit->name);
    if (a->samples == 0)
        return;
    fprintf(to, " \u00b1 %.*f", unit->one > 1 ? 2 : 0, sqrt(a->variance) / (double)unit->one);
}

void report_amount_put(FILE *to, const struct report_amount *a, enum report_quantity quantity)
{
    put_amount(to, a, quantity);
    put_few(to, a);
}

void report_bytes_put(FILE *to, const struct report_amount *blocks,
                      const struct report_amount *bytes)
{
    put_amount(to, bytes, REPORT_BYTES);
    fputs(" in ", to);
    put_amount(to, blocks, REPORT_BLOCKS);
    put_few(to, bytes);
}

double report_share(uint64_t part, uint64_t all)
{
    return all > 0 ? 100.0 * (double)part / (double)all : 0.0;
}

enum report_quantity report_quantity_of(const struct report_model *model)
{
    if (!model->heap)
        return model->choice.time_value == REPORT_TIME_CALLS ? REPORT_CALLS : REPORT_TIME;
    return model->main % 2 == 0 ? REPORT_BLOCKS : REPORT_BYTES;
}

const char *report_value_name(const struct report_model *model)
{
    static const char *const names[] = { "allocated", "live", "peak", "temporary" };

    if (!model->heap)
        return NULL;
    if (model->main / 2 == REPORT_INUSE_OBJECTS / 2 && report_choice_is_timed(&model->choice) &&
        !model->choice.at_instant)
        return "growth";
    return names[model->main / 2];
}

static unsigned figure_width(const struct report_columns *c)
{
    return 8 + 2 + (c->times ? c->time + 1 : 0) + (c->times && c->errors ? c->error + 1 : 0);
}

void report_columns_make(struct report_columns *out, const struct report_style *style,
                         const struct report_model *model, uint64_t all, bool selfs)
{
    const unsigned width = style->width, wide = model->estimated ? WIDE_ERRORS : WIDE;

    *out = (struct report_columns){
        .style = style,
        .unit = report_unit_of(style, report_quantity_of(model), all),
        .all = all,
        .selfs = selfs,
        .times = width == 0 || width >= wide || (!selfs && width >= MEDIUM),
        .errors = model->estimated,
        .error = ERROR_MIN,
        .value = report_value_name(model),
    };
    const unsigned largest =
        (unsigned)snprintf(NULL, 0, "%.*f", out->unit->decimals, report_in_unit(out->unit, all));
    const unsigned head = (unsigned)strlen("total ()") + (unsigned)strlen(out->unit->name);

    out->time = head > TIME_MIN ? head : TIME_MIN;
    if (largest > out->time)
        out->time = largest;
    if (style->bars && (width == 0 || width >= MEDIUM))
        out->bar = width == 0 || width >= wide ? BAR_LONG : BAR_SHORT;
    out->before = (selfs ? 2U : 1U) * figure_width(out) + (out->bar > 0 ? out->bar + 2U : 0U);
}

static bool is_utf8(const struct report_style *style)
{
    return style->utf8 || style->width == 0;
}

static void put_head(FILE *to, const struct report_columns *c, const char *word)
{
    char text[32];

    if (c->times) {
        snprintf(text, sizeof text, "%s (%s)", word, c->unit->name);
        fprintf(to, "%*s ", (int)c->time, text);
    }
    if (c->times && c->errors)
        fprintf(to, "%*s%s ", (int)c->error - (is_utf8(c->style) ? 1 : 2), "",
                is_utf8(c->style) ? "\u00b1" : "+-");
    snprintf(text, sizeof text, "%s %%", word);
    fprintf(to, "%8s  ", text);
}

void report_columns_head(FILE *to, const struct report_columns *c, const char *what)
{
    char text[96];

    report_colour(to, c->style, REPORT_BOLD);
    if (c->selfs)
        put_head(to, c, "self");
    put_head(to, c, "total");
    if (c->bar > 0)
        fprintf(to, "%*s  ", (int)c->bar, "");
    snprintf(text, sizeof text, "%s%s%s", what, c->value ? ": " : "", c->value ? c->value : "");
    report_line_put(to, c->style, text, strlen(text), report_columns_room(c));
    report_colour(to, c->style, REPORT_PLAIN);
    fputc('\n', to);
}

static enum report_colour heat(double percent)
{
    return percent >= 10.0 ? REPORT_HOT : percent >= 2.0 ? REPORT_WARM : REPORT_PLAIN;
}

void report_error_put(FILE *to, const struct report_unit *unit, const struct report_amount *amount,
                      unsigned width)
{
    char few[16];

    if (amount->samples > 0 && amount->samples < REPORT_SAMPLES_FEW) {
        snprintf(few, sizeof few, "few(%u)", (unsigned)amount->samples);
        fprintf(to, "%*s", (int)width, few);
        return;
    }
    fprintf(to, "%*.*f", (int)width, unit->decimals, sqrt(amount->variance) / (double)unit->one);
}

static void put_figure(FILE *to, const struct report_columns *c, const struct report_amount *amount)
{
    const double percent = report_share(amount->value, c->all);
    const enum report_colour colour = heat(percent);

    if (colour != REPORT_PLAIN)
        report_colour(to, c->style, colour);
    if (c->times)
        fprintf(to, "%*.*f ", (int)c->time, c->unit->decimals,
                report_in_unit(c->unit, amount->value));
    if (c->times && c->errors) {
        report_error_put(to, c->unit, amount, c->error);
        fputc(' ', to);
    }
    fprintf(to, "%8.2f  ", percent);
    if (colour != REPORT_PLAIN)
        report_colour(to, c->style, REPORT_PLAIN);
}

void report_columns_put(FILE *to, const struct report_columns *c, const struct report_amount *self,
                        const struct report_amount *total)
{
    const double all = c->all > 0 ? (double)c->all : 1.0;

    if (c->selfs)
        put_figure(to, c, self);
    put_figure(to, c, total);
    if (c->bar > 0) {
        report_bar(to, c->style, (double)(c->selfs ? self : total)->value / all,
                   (double)total->value / all, c->bar);
        fputs("  ", to);
    }
}

void report_columns_put_sum(FILE *to, const struct report_columns *c,
                            const struct report_amount *self)
{
    put_figure(to, c, self);
    fprintf(to, "%*s", (int)(c->before - figure_width(c)), "");
}

void report_columns_put_branches(FILE *to, const struct report_columns *c,
                                 const struct report_amount *total)
{
    const unsigned self = c->selfs ? figure_width(c) : 0;

    fprintf(to, "%*s", (int)self, "");
    put_figure(to, c, total);
    fprintf(to, "%*s", (int)(c->before - figure_width(c) - self), "");
}

unsigned report_columns_room(const struct report_columns *c)
{
    if (c->style->width == 0)
        return 0;
    return c->style->width > c->before + NAME_MIN ? c->style->width - c->before : NAME_MIN;
}
