/* The threads of recordings, each with its CPU time. */
#ifndef REPORT_THREADS_H
#define REPORT_THREADS_H

#include "report/model.h"
#include "report/text/columns.h"

/*
 * Those that took most come first. Time that no thread is known for is a line of its process: together they are all
 * CPU time.
 *
 * @param percent  those with a smaller share are one line
 * @return false: no memory
 */
bool report_threads_write(FILE *to, const struct report_model *model,
                          const struct report_style *style, double percent);

#endif
