/* speedscope's own format: https://www.speedscope.app/file-format-schema.json. */
#ifndef PROFILER_REPORT_FORMATS_SPEEDSCOPE_H
#define PROFILER_REPORT_FORMATS_SPEEDSCOPE_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * A profile for each thread, most CPU time first, with its samples by time; equal ones that follow each other are one. Of
 * more than 2^24 frames it is a sample for each stack instead. A frame is a function, with its source file, or else with its module: speedscope adds up by frame. Weights are CPU time,
 * marks are frames, and what was never sampled stands at the end: the sum is all CPU time.
 *
 * @return false: no memory
 */
bool report_speedscope_write(FILE *to, const struct report_model *model);

#endif
