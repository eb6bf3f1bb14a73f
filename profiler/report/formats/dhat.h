/* A heap for dh_view.html of valgrind: DHAT's JSON, version 2. profiler/docs/REPORTS.md has what each number is. */
#ifndef PROFILER_REPORT_FORMATS_DHAT_H
#define PROFILER_REPORT_FORMATS_DHAT_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* @return NULL, or why not: it is no heap, or a part of a run */
const char *report_dhat_refuses(const struct report_model *model);

/* @return false: no memory */
bool report_dhat_write(FILE *to, const struct report_model *model);

#endif
