/* The stacks of a heap, one after the other: what leaks, what is temporary, what is reallocated, ... */
#ifndef PROFILER_REPORT_TEXT_STACKS_H
#define PROFILER_REPORT_TEXT_STACKS_H

#include "profiler/report/model/suppressions.h"
#include "profiler/report/text/style.h"

enum report_stacks_order {
    REPORT_STACKS_LEAKS, /* by what lives at the end */
    REPORT_STACKS_TEMPORARY,
    REPORT_STACKS_REALLOCS,
    REPORT_STACKS_SLACK,     /* usable less asked */
    REPORT_STACKS_ELSEWHERE, /* freed by another thread */
    REPORT_STACKS_OVERRUNS   /* written past their end */
};

struct report_stacks {
    enum report_stacks_order order;
    size_t rows;    /* at most; 0: all */
    double percent; /* those with a smaller share are left out */
    struct report_suppressions
        *suppressions; /* of leaks; what they suppress is added to them; NULL: none */
    const char *suppressions_path;
};

/*
 * A stack is of places, not of functions: two calls of malloc() in a function are two. Its threads are together.
 *
 * @return false: no memory
 */
bool report_stacks_write(FILE *to, const struct report_model *model,
                         const struct report_style *style, const struct report_stacks *stacks);

#endif
