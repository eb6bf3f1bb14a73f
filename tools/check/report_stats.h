/* Statistics as text. */
#ifndef CHECK_REPORT_STATS_H
#define CHECK_REPORT_STATS_H

#include <stdio.h>

#include "check.h"

/* @param name  of the file, escaped */
void report_stats(FILE *to, const char *name, const struct check_result *result);

#endif
