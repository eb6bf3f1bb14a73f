/* Assembly of functions with source lines, each instruction with its figures. */
#ifndef PROFILER_REPORT_TEXT_ANNOTATE_H
#define PROFILER_REPORT_TEXT_ANNOTATE_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/columns.h"

/*
 * The functions with the largest self come first. An inlined function is shown within its callers.
 *
 * @param wanted     of each function of the model
 * @param functions  at most; the others are counted
 * @return false: no memory
 */
bool report_annotate_write(FILE *to, const struct report_model *model,
                           const struct report_style *style, const bool *wanted, size_t functions);

#endif
