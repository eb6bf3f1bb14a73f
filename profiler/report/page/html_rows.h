/* The figures of a page: what ended in each node, of which thread, and when. */
#ifndef PROFILER_REPORT_PAGE_HTML_ROWS_H
#define PROFILER_REPORT_PAGE_HTML_ROWS_H

#include <stdio.h>

#include "profiler/report/page/html_time.h"
#include "profiler/report/page/html_tree.h"

/* Writes "rows", with what was never sampled. @return false: no memory */
bool html_rows_write(FILE *to, const struct report_model *model, const struct html_tree *tree);

/* Writes "time". A point has its main value, and is one sample: of other values no time is known. */
void html_rows_write_time(FILE *to, const struct report_model *model, const struct html_time *time);

#endif
