/* Tables: the functions (files, lines, modules, threads, processes) that take most CPU time. */
#ifndef PROFILER_REPORT_TEXT_TOP_H
#define PROFILER_REPORT_TEXT_TOP_H

#include "profiler/report/text/columns.h"
#include "profiler/report/text/entity.h"
#include "profiler/report/text/tally.h"

struct report_top {
    enum report_by by;
    size_t rows;    /* at most; 0: all */
    double percent; /* those with a smaller total are left out */
    enum report_sort sort;
};

/*
 * Self is time in the function itself, total is time in it and in what it calls, a recursion counted once. Both are
 * shares of all CPU time, what was never sampled included. The last line is of all that are left out, so that the
 * column of self adds up.
 *
 * @return false: no memory
 */
bool report_top_write(FILE *to, const struct report_model *model, const struct report_style *style,
                      const struct report_top *top);

#endif
