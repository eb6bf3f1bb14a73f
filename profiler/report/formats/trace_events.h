/* Chrome's trace: JSON for DevTools' performance panel, Perfetto, Firefox's profiler and others. */
#ifndef PROFILER_REPORT_FORMATS_TRACE_EVENTS_H
#define PROFILER_REPORT_FORMATS_TRACE_EVENTS_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * A Profile of samples for each thread, in chunks. A sample ends at its time, and began as much before as CPU time was
 * used since the last one; between samples a thread is "(idle)". Times are us from the beginning of the first recording; its date is
 * in `metadata`. What was never sampled has no time, and is left out.
 *
 * @return false: no memory
 */
bool report_trace_events_write(FILE *to, const struct report_model *model);

#endif
