/* Each thread by the time: when it ran, and what it waited in; what it waited for, which thread had that meanwhile, and what ended the wait. */
#ifndef PROFILER_REPORT_TEXT_TIMELINE_H
#define PROFILER_REPORT_TEXT_TIMELINE_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

/*
 * Of the span of time that the model's choice has. Recordings begin together.
 *
 * A track has a column for each part of the span, with the state that most of it was spent in. Below it stand the states of the
 * thread with their time; for locks the threads that had them; and what ended waits.
 *
 * @param rows  threads, with most time first; 0: all
 * @return false: no memory
 */
bool report_timeline_write(FILE *to, const struct report_model *model,
                           const struct report_style *style, uint64_t rows);

#endif
