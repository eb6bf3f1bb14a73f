#include "report/text/style.h"

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
    { "s", 1000000000, 3 }, { "ms", 1000000, 3 }, { "us", 1000, 3 }, { "ns", 1, 0 }
};

enum { UNITS = sizeof units / sizeof *units };

const struct report_unit *report_unit_of(const struct report_style *style, uint64_t most)
{
    for (size_t i = 0; i < UNITS; i++)
        if (style->unit ? strcmp(style->unit, units[i].name) == 0 : most >= units[i].ns)
            return &units[i];
    return &units[UNITS - 1];
}

bool report_unit_is(const char *name)
{
    for (size_t i = 0; i < UNITS; i++)
        if (strcmp(name, units[i].name) == 0)
            return true;
    return false;
}

double report_in_unit(const struct report_unit *unit, uint64_t ns)
{
    return (double)ns / (double)unit->ns;
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
