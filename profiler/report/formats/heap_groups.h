/* The sites of a model's heaps by stack: files that know no threads have one entry for each. */
#ifndef PROFILER_REPORT_FORMATS_HEAP_GROUPS_H
#define PROFILER_REPORT_FORMATS_HEAP_GROUPS_H

#include "profiler/report/model/model.h"

/* What one stack has, of all threads. Estimates, where the heap is sampled. */
struct report_heap_group {
    uint32_t stack; /* index; REPORT_NONE: none was taken */
    struct sfb_recording_heap_sum allocated, live, peak;
    struct sfb_recording_heap_sum
        most;           /* the most bytes that it had at any instant, and their blocks */
    uint64_t lifetimes; /* ns: of all its blocks, summed */
    bool has_events;
};

struct report_heap_groups {
    REPORT_ARRAY(struct report_heap_group) all;
    uint32_t *of_site; /* of each site of the model: index */
};

/* @return false: no memory; out is to be freed in any case */
bool report_heap_groups_make(struct report_heap_groups *out, const struct report_model *model);

void report_heap_groups_free(struct report_heap_groups *groups);

/* @return NULL, or why a model is no whole run of a heap */
const char *report_heap_is_no_run(const struct report_model *model);

#endif
