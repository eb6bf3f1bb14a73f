/* Which programs were recorded from outside, in a recording of agents. */
#ifndef PROFILER_REPORT_TEXT_WAYS_H
#define PROFILER_REPORT_TEXT_WAYS_H

#include <stdio.h>

#include "profiler/report/model/model.h"
#include "profiler/report/text/detail.h"

/* A line with programs and their CPU time, most first; nothing if all came one way. @return false: no memory */
bool report_ways_write(FILE *to, const struct report_model *model, enum report_detail detail);

#endif
