/* What waits are counted by: how often, how long, and where. */
#ifndef PROFILER_REPORT_TEXT_CAUSES_H
#define PROFILER_REPORT_TEXT_CAUSES_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

/*
 * Locks that threads waited for, where they waited, and which threads had them.
 *
 * @param rows  locks; 0: all
 * @return false: no memory
 */
bool report_locks_write(FILE *to, const struct report_model *model,
                        const struct report_style *style, uint64_t rows);

/* What ended waits: where threads woke others up, and the waits that ended. The same otherwise. */
bool report_wakers_write(FILE *to, const struct report_model *model,
                         const struct report_style *style, uint64_t rows);

#endif
