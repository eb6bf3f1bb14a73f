/* Valgrind's format for KCachegrind and callgrind_annotate: functions, their lines, and which called which. */
#ifndef PROFILER_REPORT_FORMATS_CALLGRIND_H
#define PROFILER_REPORT_FORMATS_CALLGRIND_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * Two events: the model's main value, then how many. A function within its own recursion is another one, `f'2`, as
 * valgrind's --separate-recs has it, so that the inclusive cost of `f` counts a sample once. "[all]" calls the outermost functions.
 * The format has calls and no stacks, and no thread.
 *
 * @return false: no memory
 */
bool report_callgrind_write(FILE *to, const struct report_model *model);

#endif
