/* A report as a page: one HTML file that needs no network (page/, profiler/docs/REPORTS.md). */
#ifndef PROFILER_REPORT_PAGE_HTML_H
#define PROFILER_REPORT_PAGE_HTML_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* @return false: no memory */
bool report_html_write(FILE *to, const struct report_model *model);

#endif
