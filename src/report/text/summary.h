/* What was recorded, and what is missing: the first lines of a report. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include <stdio.h>

#include "report/model.h"
#include "report/text/detail.h"

/*
 * Programs, time, engines; CPU time and samples; what is missing, by reason; modules without names. Plain text, a fact a
 * line; the first is the command.
 *
 * @return false: no memory
 */
bool report_summary_write(FILE *to, const struct report_model *model, enum report_detail detail);

/*
 * Of these lines those of what is missing in what is shown, without what a recording counted as lost.
 *
 * @return false: no memory
 */
bool report_missing_write(FILE *to, const struct report_model *model, enum report_detail detail);

#endif
