/* The threads of recordings, each with its CPU time. */
#ifndef PROFILER_REPORT_TEXT_THREADS_H
#define PROFILER_REPORT_TEXT_THREADS_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/columns.h"

/*
 * Threads with most CPU time come first. Time without a known thread is a line of its process: so all lines add up to
 * all CPU time.
 *
 * @param percent  threads with a smaller share are one line
 * @return false: no memory
 */
bool report_threads_write(FILE *to, const struct report_model *model,
                          const struct report_style *style, double percent);

#endif
