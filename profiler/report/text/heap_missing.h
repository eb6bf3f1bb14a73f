/* What is not known of recorded heaps. */
#ifndef PROFILER_REPORT_TEXT_HEAP_MISSING_H
#define PROFILER_REPORT_TEXT_HEAP_MISSING_H

#include <stdio.h>

#include "profiler/report/model/model.h"
#include "profiler/report/text/detail.h"

/* A line for each fact; nothing if all is known. @return false: no memory */
bool report_heap_missing_write(FILE *to, const struct report_model *model,
                               enum report_detail detail);

#endif
