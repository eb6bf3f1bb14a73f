/* Memory of a heap over time as JSON objects, a line for each instant of a process: docs/FORMATS.md. */
#ifndef PROFILER_REPORT_FORMATS_MEMORY_ROWS_H
#define PROFILER_REPORT_FORMATS_MEMORY_ROWS_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* @return why there is no such file of a model; NULL: there is */
const char *report_memory_rows_refuses(const struct report_model *model);

/* @return false: no memory */
bool report_memory_rows_write(FILE *to, const struct report_model *model);

#endif
