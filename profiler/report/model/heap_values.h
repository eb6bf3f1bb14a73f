/* What each site of a recorded heap has of each value, in the part of the run that is chosen. */
#ifndef PROFILER_REPORT_MODEL_HEAP_VALUES_H
#define PROFILER_REPORT_MODEL_HEAP_VALUES_H

#include "profiler/report/model/model.h"

struct report_heap_values {
    struct report_amount of[REPORT_VALUES]; /* by enum report_heap_type */
    uint64_t shrunk[2]; /* blocks, bytes less at the end of a span than at its beginning */
};

/*
 * @param out      of each site, to be freed
 * @param nearest  written: the snapshot, in ns from the beginning of the recording, that stands for the end of the time
 *                 chosen where a heap has no events; 0: none does
 * @return false: no memory
 */
bool report_heap_values_make(struct report_heap_values **out, const struct report_data *data,
                             const struct report_choice *choice, uint64_t *nearest);

#endif
