/* A heap as gperftools' heap profiler writes it: a line for each stack, and the memory map. Its pprof and jeprof read it. */
#ifndef PROFILER_REPORT_FORMATS_GPERFTOOLS_H
#define PROFILER_REPORT_FORMATS_GPERFTOOLS_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* @return NULL, or why not: it is no heap */
const char *report_gperftools_refuses(const struct report_model *model);

/* @return false: no memory */
bool report_gperftools_write(FILE *to, const struct report_model *model);

#endif
