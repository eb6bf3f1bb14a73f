/* Source lines of functions, with the CPU time of each. */
#ifndef PROFILER_REPORT_TEXT_LIST_H
#define PROFILER_REPORT_TEXT_LIST_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/columns.h"

/*
 * The functions with the largest totals come first. Self is time in the line itself, total is time in it and in what
 * it calls. A file that is not here leaves figures and line numbers.
 *
 * @param wanted     of each function of the model
 * @param functions  at most; the others are counted
 * @return false: no memory
 */
bool report_list_write(FILE *to, const struct report_model *model, const struct report_style *style,
                       const bool *wanted, size_t functions, const struct report_texts *texts);

#endif
