/* The first lines of the report of a heap: what was allocated, lives, was the peak. */
#ifndef PROFILER_REPORT_TEXT_HEAP_SUMMARY_H
#define PROFILER_REPORT_TEXT_HEAP_SUMMARY_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* Plain text, a fact a line; the first is the command. Without what is missing: heap_missing.h. */
void report_heap_summary_write(FILE *to, const struct report_model *model);

#endif
