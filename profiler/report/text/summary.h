/* What was recorded, and what is missing: the first lines of a report. */
#ifndef PROFILER_REPORT_TEXT_SUMMARY_H
#define PROFILER_REPORT_TEXT_SUMMARY_H

#include <stdio.h>

#include "profiler/report/model/model.h"
#include "profiler/report/text/detail.h"

/*
 * Programs, time, engines; CPU time and samples; what is missing, by reason; modules without names. Plain text, a fact a
 * line; the first is the command.
 *
 * @return false: no memory
 */
bool report_summary_write(FILE *to, const struct report_model *model, enum report_detail detail);

/*
 * Writes only the lines about missing data, and of those only what concerns the shown part. Losses that a recording
 * counted are left out.
 *
 * @return false: no memory
 */
bool report_missing_write(FILE *to, const struct report_model *model, enum report_detail detail);

#endif
