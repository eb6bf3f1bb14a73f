/* Rows for SQL: JSON, an object a line, as DuckDB, ClickHouse and jq read it (docs/FORMATS.md, "Rows"). */
#ifndef PROFILER_REPORT_FORMATS_ROWS_H
#define PROFILER_REPORT_FORMATS_ROWS_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * A line for each thread and stack of a recording, and for what was never sampled: the sum of "value" is all CPU time.
 * Each pair of the model's values (how many, how much) has lines of its own, by "kind".
 *
 * @return false: no memory
 */
bool report_rows_write(FILE *to, const struct report_model *model);

#endif
