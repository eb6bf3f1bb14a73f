/* A trace as apitrace writes them: a call for each thread and stack, and its values as arguments. docs/FORMATS.md, "apitrace". */
#ifndef PROFILER_REPORT_FORMATS_APITRACE_CALLS_H
#define PROFILER_REPORT_FORMATS_APITRACE_CALLS_H

#include <stdbool.h>
#include <stdio.h>

#include "profiler/report/model/model.h"

/* @return NULL, or why none can be written: a build without snappy */
const char *report_apitrace_calls_refuses(const struct report_model *model);

/* @return false: no memory; faults of `to` are the caller's */
bool report_apitrace_calls_write(FILE *to, const struct report_model *model);

#endif
