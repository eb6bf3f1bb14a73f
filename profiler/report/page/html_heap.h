/* The time line of a heap: what was allocated and freed in each step, and what lived. Part of html_time.h. */
#ifndef PROFILER_REPORT_PAGE_HTML_HEAP_H
#define PROFILER_REPORT_PAGE_HTML_HEAP_H

#include <stdio.h>

#include "profiler/report/page/html_time.h"

/* @return false: no memory; out is to be freed in any case */
bool html_heap_time_make(struct html_time *out, const struct report_model *model);

/* What pages know of a heap beside the rows of each step. */
void html_heap_time_write(FILE *to, const struct html_time *time);

#endif
