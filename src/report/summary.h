/* What was recorded, and what is missing: the first lines of a report. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include <stdio.h>

#include "report/model.h"

/*
 * Programs, time, engines; CPU time and samples; what is missing, by reason; modules without names. Plain text, a fact a
 * line; the first is the command.
 *
 * @return false: no memory
 */
bool report_summary_write(FILE *to, const struct report_model *model);

/* What was lost, one line each; nothing if nothing was. */
void report_losses_write(FILE *to, const struct report_data *data);

/*
 * Whether a file is whole, and where it is not.
 *
 * @return whether it is
 */
bool report_health_write(FILE *to, const char *path, const struct report_data *data);

#endif
