/*
 * What a page knows, as JSON: a table of texts, and arrays of numbers that stand side by side.
 * profiler/page/src/profile.js says what is in it, and reads it.
 */
#ifndef PROFILER_REPORT_PAGE_HTML_DATA_H
#define PROFILER_REPORT_PAGE_HTML_DATA_H

#include <stdio.h>

#include "profiler/report/page/html_time.h"
#include "profiler/report/page/html_tree.h"

/* @return false: no memory */
bool html_data_write(FILE *to, const struct report_model *model, const struct html_tree *tree,
                     const struct html_time *time);

#endif
