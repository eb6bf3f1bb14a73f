#include "profiler/report/text/style.h"

#include <string.h>

void report_colour(FILE *to, const struct report_style *style, enum report_colour colour)
{
    /* Sixteen colours and no background: they are the user's choice, and readable on dark and light. */
    static const char *const codes[] = {
        [REPORT_PLAIN] = "\033[m",  [REPORT_BOLD] = "\033[1m",  [REPORT_DIM] = "\033[2m",
        [REPORT_HOT] = "\033[31m",  [REPORT_WARM] = "\033[33m", [REPORT_MORE] = "\033[31m",
        [REPORT_LESS] = "\033[34m",
    };

    if (style->colours)
        fputs(codes[colour], to);
}

static const struct report_unit units[] = {
    { "s", REPORT_TIME, 1000000000, 3 }, { "ms", REPORT_TIME, 1000000, 3 },
    { "us", REPORT_TIME, 1000, 3 },      { "ns", REPORT_TIME, 1, 0 },
    { "GiB", REPORT_BYTES, 1 << 30, 3 }, { "MiB", REPORT_BYTES, 1 << 20, 3 },
    { "KiB", REPORT_BYTES, 1 << 10, 3 }, { "bytes", REPORT_BYTES, 1, 0 },
    { "blocks", REPORT_BLOCKS, 1, 0 },   { "calls", REPORT_CALLS, 1, 0 }
};

enum { UNITS = sizeof units / sizeof *units };

const struct report_unit *report_unit_of(const struct report_style *style,
                                         enum report_quantity quantity, uint64_t most)
{
    const bool asked = style->unit && report_unit_parse(style->unit) == quantity;
    const struct report_unit *smallest = NULL;

    for (size_t i = 0; i < UNITS; i++) {
        if (units[i].quantity != quantity)
            continue;
        smallest = &units[i];
        if (asked ? strcmp(style->unit, units[i].name) == 0 : most >= units[i].one)
            return &units[i];
    }
    return smallest;
}

enum report_quantity report_unit_parse(const char *name)
{
    for (size_t i = 0; i < UNITS; i++)
        if (strcmp(name, units[i].name) == 0)
            return units[i].quantity;
    return REPORT_BLOCKS;
}

double report_in_unit(const struct report_unit *unit, uint64_t value)
{
    return (double)value / (double)unit->one;
}

void report_bar(FILE *to, const struct report_style *style, double part, double whole,
                unsigned width)
{
    const unsigned cells = (unsigned)(whole * width + 0.5), full = (unsigned)(part * width + 0.5);

    for (unsigned i = 0; i < width; i++) {
        if (i >= cells)
            fputc(' ', to);
        else if (i < full)
            fputs(style->utf8 ? "\u2588" : "#", to);
        else
            fputs(style->utf8 ? "\u2591" : "-", to);
    }
}
