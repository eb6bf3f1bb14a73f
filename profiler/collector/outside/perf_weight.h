/* What a sample of a perf event stands for: by how much the event's own count has grown since the sample before. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_PERF_WEIGHT_H
#define PROFILER_COLLECTOR_OUTSIDE_PERF_WEIGHT_H

#include <stdbool.h>

#include "profiler/collector/outside/perf_record.h"
#include "util/array.h"
#include "util/index.h"

struct perf_weights {
    struct report_index streams;   /* events, by the number that samples name */
    REPORT_ARRAY(uint64_t) counts; /* of them, when they were read last */
};

/*
 * Where kernel time is not sampled it counts all the same, and is no time of the function that was found later: then a
 * sample stands for one period.
 *
 * @param period  of the event, in ns
 * @param kernel  kernel time is sampled, too
 * @return ns of CPU time
 */
uint64_t perf_weight_of(struct perf_weights *weights, const struct perf_sample *sample,
                        uint64_t period, bool kernel);

void perf_weights_free(struct perf_weights *weights);

#endif
