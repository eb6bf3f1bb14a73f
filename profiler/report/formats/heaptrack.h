/* Every event of a heap for heaptrack_print and heaptrack_gui: heaptrack's text, version 2. */
#ifndef PROFILER_REPORT_FORMATS_HEAPTRACK_H
#define PROFILER_REPORT_FORMATS_HEAPTRACK_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* @return NULL, or why not: it has no events, or they are samples, or of several processes */
const char *report_heaptrack_refuses(const struct report_model *model);

/* @return false: no memory */
bool report_heaptrack_write(FILE *to, const struct report_model *model);

#endif
