/* Stacks with their CPU time, whichever thread had them: there are fewer of them than of rows. */
#ifndef PROFILER_REPORT_TEXT_WEIGHTS_H
#define PROFILER_REPORT_TEXT_WEIGHTS_H

#include "profiler/report/model/model.h"

enum { REPORT_GROUPS = 2 }; /* of a comparison: old, new */

struct report_weighed {
    uint32_t stack; /* REPORT_NONE: samples without one; it is the last */
    struct report_amount of[REPORT_GROUPS];
};

struct report_weights {
    struct report_weighed *at; /* stacks of the model, in its order */
    size_t count;
};

/* @return false: no memory */
bool report_weights_make(struct report_weights *out, const struct report_model *model);

void report_weights_free(struct report_weights *weights);

/* @return of both groups */
static inline struct report_amount report_weighed_sum(const struct report_weighed *weighed)
{
    return report_amount_sum(&weighed->of[0], &weighed->of[1]);
}

#endif
