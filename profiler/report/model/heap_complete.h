/* Sums of a heap that its recording does not have. */
#ifndef PROFILER_REPORT_MODEL_HEAP_COMPLETE_H
#define PROFILER_REPORT_MODEL_HEAP_COMPLETE_H

#include "profiler/report/model/data_heap.h"

/*
 * All was read. Where the totals of a process are missing or older than its events, what was allocated, lived and was
 * the peak is computed from these.
 *
 * @return false: no memory
 */
bool report_heap_complete(struct report_heap_data *heap);

#endif
