/* Formats with a time line: what they share. */
#ifndef PROFILER_REPORT_FORMATS_TIME_LINE_H
#define PROFILER_REPORT_FORMATS_TIME_LINE_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* @return NULL, or why a model has no samples by time: it is of heaps */
const char *report_time_line_refuses(const struct report_model *model);

/* Writes ns in a larger unit, exactly: 1.000500. @param digits  6: milliseconds; 3: microseconds */
void report_time_line_put(FILE *to, uint64_t ns, unsigned digits);

#endif
