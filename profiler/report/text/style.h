/* How text is shown: plain, or as a terminal has it: cut to its width, with colours and bars. */
#ifndef PROFILER_REPORT_TEXT_STYLE_H
#define PROFILER_REPORT_TEXT_STYLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report_style {
    unsigned width; /* columns; 0: no line is cut */
    bool colours, bars;
    bool utf8; /* for bars and lines of trees; else they are ASCII */
    const char *
        unit; /* of times: s, ms, us or ns; of bytes: bytes, KiB, MiB or GiB; NULL: the one that fits */
};

enum report_colour {
    REPORT_PLAIN,
    REPORT_BOLD,
    REPORT_DIM,
    REPORT_HOT,  /* of a share from 10 % on */
    REPORT_WARM, /* from 2 % on */
    REPORT_MORE, /* in a comparison: more than before */
    REPORT_LESS
};

/* Switches to a colour, and back with REPORT_PLAIN. Without colours it writes nothing. */
void report_colour(FILE *to, const struct report_style *style, enum report_colour colour);

/* What is counted. */
enum report_quantity { REPORT_TIME, REPORT_BYTES, REPORT_BLOCKS, REPORT_CALLS };

struct report_unit {
    const char *name;
    enum report_quantity quantity;
    uint64_t one; /* ns, bytes, blocks, calls */
    int decimals;
};

/* @return the one that is asked for, else the one in which the largest value reads well */
const struct report_unit *report_unit_of(const struct report_style *style,
                                         enum report_quantity quantity, uint64_t most);

/* @return what a text is a unit of; REPORT_BLOCKS: of nothing */
enum report_quantity report_unit_parse(const char *name);

/* @return a value in a unit */
double report_in_unit(const struct report_unit *unit, uint64_t value);

/* A line of cells: `part` in full, from there to `whole` faint, and blanks up to `width`. */
void report_bar(FILE *to, const struct report_style *style, double part, double whole,
                unsigned width);

#endif
