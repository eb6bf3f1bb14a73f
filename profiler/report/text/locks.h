/* Locks that threads waited for: how often, how long, where, and which thread had them. */
#ifndef PROFILER_REPORT_TEXT_LOCKS_H
#define PROFILER_REPORT_TEXT_LOCKS_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

/* @param rows  locks; 0: all. @return false: no memory */
bool report_locks_write(FILE *to, const struct report_model *model,
                        const struct report_style *style, uint64_t rows);

#endif
