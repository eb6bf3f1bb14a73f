/* The text of `perf script`: what stackcollapse-perf.pl, Firefox's profiler, speedscope and others read. */
#ifndef PROFILER_REPORT_FORMATS_PERF_SCRIPT_H
#define PROFILER_REPORT_FORMATS_PERF_SCRIPT_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * A sample each, by time: seconds since 1970, with its CPU time in ns as the period. What was never sampled is left out. In
 * names of threads and files a blank is `_`. Readers drop functions that begin with a parenthesis: such a name begins with `::`.
 *
 * @return false: no memory
 */
bool report_perf_script_write(FILE *to, const struct report_model *model);

#endif
