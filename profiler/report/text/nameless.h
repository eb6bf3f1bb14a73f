/* Modules with functions that have no name. */
#ifndef PROFILER_REPORT_TEXT_NAMELESS_H
#define PROFILER_REPORT_TEXT_NAMELESS_H

#include <stdio.h>

#include "profiler/report/model/model.h"
#include "profiler/report/text/detail.h"

/*
 * Writes a line of them, by the CPU time of such functions themselves; nothing if all that took time have names.
 *
 * @param all  what 100 % is
 * @return false: no memory
 */
bool report_nameless_write(FILE *to, const struct report_model *model, uint64_t all,
                           enum report_detail detail);

#endif
