/* When the heaps of processes were largest. */
#ifndef PROFILER_REPORT_TEXT_HEAP_PEAKS_H
#define PROFILER_REPORT_TEXT_HEAP_PEAKS_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* The rest of a line: the instant of one process; of several, that their peaks were added, and a line for each of the largest. */
void report_peaks_write(FILE *to, const struct report_model *model);

#endif
