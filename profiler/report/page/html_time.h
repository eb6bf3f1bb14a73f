/* Samples by time, in steps of a round length: what a page's time line shows and chooses from. */
#ifndef PROFILER_REPORT_PAGE_HTML_TIME_H
#define PROFILER_REPORT_PAGE_HTML_TIME_H

#include "profiler/report/model/model.h"
#include "profiler/report/page/html_memory.h"

/* Samples of one row within one step; of a heap, blocks and bytes that were allocated. */
struct html_moment {
    uint32_t step, row;
    uint64_t count, weight;
    int64_t blocks, bytes; /* of a heap: by how much more lived behind the step than before it */
};

/* What lived of a heap: the most in each step. */
struct html_live {
    struct sfb_recording_heap_sum *steps; /* NULL: not known */
    struct sfb_recording_heap_sum peak;
    uint64_t peak_time; /* ns from the beginning of the recording */
};

struct html_time {
    uint64_t step_ns;                         /* 1, 2 or 5 times a power of ten */
    uint32_t steps;                           /* how many */
    REPORT_ARRAY(struct html_moment) moments; /* by step */
    struct html_live live[2];                 /* of a heap, by group */
    uint64_t live_step_ns;                    /* of what lived: no longer than the others */
    uint32_t live_steps;                      /* as long as all of those */
    struct html_memory memory; /* of a heap that is not compared: in the same steps as live */
};

/* @return a step of a round length, at least so long, of which so much time has at most 2,000 */
uint64_t html_time_step(uint64_t end, uint64_t shortest);

/* Brings moments into the order of their steps. */
void html_time_sort(struct html_time *time);

/* @return false: no memory; out is to be freed in any case */
bool html_time_make(struct html_time *out, const struct report_model *model);

void html_time_free(struct html_time *time);

#endif
