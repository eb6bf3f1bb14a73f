/* Samples by time, in steps of a round length: what a page's time line shows and chooses from. */
#ifndef REPORT_HTML_TIME_H
#define REPORT_HTML_TIME_H

#include "report/model.h"

/* Samples of one row within one step. */
struct html_moment {
    uint32_t step, row;
    uint64_t count, weight;
};

struct html_time {
    uint64_t step_ns;                         /* 1, 2 or 5 times a power of ten */
    uint32_t steps;                           /* how many */
    REPORT_ARRAY(struct html_moment) moments; /* by step */
};

/* @return false: no memory; out is to be freed in any case */
bool html_time_make(struct html_time *out, const struct report_model *model);

void html_time_free(struct html_time *time);

#endif
