/* Memory of a recorded heap over time: what lives, what the allocator has in use and holds, what is resident. */
#ifndef PROFILER_REPORT_TEXT_HEAP_MEMORY_H
#define PROFILER_REPORT_TEXT_HEAP_MEMORY_H

#include <stdio.h>

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

/* Writes a line of an overview if the allocator kept much free memory: the instant at which it was most. */
void report_memory_line_write(FILE *to, const struct report_model *model);

/* Writes a table for each process, the largest first, of at most `rows` instants; 0: of all that were recorded. */
bool report_memory_write(FILE *to, const struct report_model *model,
                         const struct report_style *style, size_t rows);

#endif
