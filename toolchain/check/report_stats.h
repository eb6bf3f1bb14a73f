/* Statistics as text. */
#ifndef TOOLCHAIN_CHECK_REPORT_STATS_H
#define TOOLCHAIN_CHECK_REPORT_STATS_H

#include <stdio.h>

#include "toolchain/check/check.h"

/* @param name  of the file, escaped */
void report_stats(FILE *to, const char *name, const struct check_result *result);

#endif
