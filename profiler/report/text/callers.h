/* One function: its callers, and what it called. */
#ifndef PROFILER_REPORT_TEXT_CALLERS_H
#define PROFILER_REPORT_TEXT_CALLERS_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/columns.h"

/*
 * The callers are a tree from the function outward, by where it was entered first; what it called is a list, by its
 * innermost call. So a recursion is counted once, and both add up to the function's total.
 *
 * @param wanted   of each function of the model: several are taken as one
 * @param percent  callers with a smaller share of all are one line
 * @return false: no memory
 */
bool report_callers_write(FILE *to, const struct report_model *model,
                          const struct report_style *style, const bool *wanted, double percent);

#endif
