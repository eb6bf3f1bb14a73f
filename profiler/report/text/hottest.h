/* The stack that takes most CPU time. */
#ifndef PROFILER_REPORT_TEXT_HOTTEST_H
#define PROFILER_REPORT_TEXT_HOTTEST_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

/*
 * Stacks of the same functions count as one, whichever lines they reached. The lines shown are from the heaviest stack.
 * Without a stack, nothing is written.
 *
 * @return false: no memory
 */
bool report_hottest_write(FILE *to, const struct report_model *model,
                          const struct report_style *style);

#endif
