#include "report/text/columns.h"

#include <string.h>

#include "report/text/name.h"

/* Widths of terminals from which there is room for times, for long bars, and for bars at all. */
enum { WIDE = 110, MEDIUM = 60, BAR_LONG = 16, BAR_SHORT = 10, NAME_MIN = 12 };

double report_share(uint64_t part, uint64_t all)
{
    return all > 0 ? 100.0 * (double)part / (double)all : 0.0;
}

void report_columns_make(struct report_columns *out, const struct report_style *style, uint64_t all,
                         bool selfs)
{
    const unsigned width = style->width;

    *out = (struct report_columns){
        .style = style,
        .unit = report_unit_of(style, all),
        .all = all,
        .selfs = selfs,
        .times = width == 0 || width >= WIDE || (!selfs && width >= MEDIUM),
    };
    const int largest =
        snprintf(NULL, 0, "%.*f", out->unit->decimals, report_in_unit(out->unit, all));

    out->time = largest > 10 ? (unsigned)largest : 10; /* "total (ms)" */
    if (style->bars && (width == 0 || width >= MEDIUM))
        out->bar = width == 0 || width >= WIDE ? BAR_LONG : BAR_SHORT;
    out->before = (selfs ? 2U : 1U) * (8U + 2U + (out->times ? out->time + 1U : 0U)) +
                  (out->bar > 0 ? out->bar + 2U : 0U);
}

static void put_head(FILE *to, const struct report_columns *c, const char *word)
{
    char text[32];

    if (c->times) {
        snprintf(text, sizeof text, "%s (%s)", word, c->unit->name);
        fprintf(to, "%*s ", (int)c->time, text);
    }
    snprintf(text, sizeof text, "%s %%", word);
    fprintf(to, "%8s  ", text);
}

void report_columns_head(FILE *to, const struct report_columns *c, const char *what)
{
    report_colour(to, c->style, REPORT_BOLD);
    if (c->selfs)
        put_head(to, c, "self");
    put_head(to, c, "total");
    if (c->bar > 0)
        fprintf(to, "%*s  ", (int)c->bar, "");
    report_line_put(to, c->style, what, strlen(what), report_columns_room(c));
    report_colour(to, c->style, REPORT_PLAIN);
    fputc('\n', to);
}

static enum report_colour heat(double percent)
{
    return percent >= 10.0 ? REPORT_HOT : percent >= 2.0 ? REPORT_WARM : REPORT_PLAIN;
}

static void put_figure(FILE *to, const struct report_columns *c, uint64_t value)
{
    const double percent = report_share(value, c->all);
    const enum report_colour colour = heat(percent);

    if (colour != REPORT_PLAIN)
        report_colour(to, c->style, colour);
    if (c->times)
        fprintf(to, "%*.*f ", (int)c->time, c->unit->decimals, report_in_unit(c->unit, value));
    fprintf(to, "%8.2f  ", percent);
    if (colour != REPORT_PLAIN)
        report_colour(to, c->style, REPORT_PLAIN);
}

void report_columns_put(FILE *to, const struct report_columns *c, uint64_t self, uint64_t total)
{
    const double all = c->all > 0 ? (double)c->all : 1.0;

    if (c->selfs)
        put_figure(to, c, self);
    put_figure(to, c, total);
    if (c->bar > 0) {
        report_bar(to, c->style, (double)(c->selfs ? self : total) / all, (double)total / all,
                   c->bar);
        fputs("  ", to);
    }
}

static unsigned figure_width(const struct report_columns *c)
{
    return 8 + 2 + (c->times ? c->time + 1 : 0);
}

void report_columns_put_sum(FILE *to, const struct report_columns *c, uint64_t self)
{
    put_figure(to, c, self);
    fprintf(to, "%*s", (int)(c->before - figure_width(c)), "");
}

void report_columns_put_branches(FILE *to, const struct report_columns *c, uint64_t total)
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
