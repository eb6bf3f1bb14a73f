/* Figures: CPU time of each function, file, thread, ... itself, and with what it calls. They add up. */
#ifndef PROFILER_REPORT_TEXT_TALLY_H
#define PROFILER_REPORT_TEXT_TALLY_H

#include "profiler/report/text/entity.h"
#include "profiler/report/text/weights.h"

struct report_figure {
    struct report_amount self[REPORT_GROUPS];
    struct report_amount total[REPORT_GROUPS]; /* a recursion counted once */
    size_t last;                               /* stack that was counted last, + 1 */
};

struct report_tally {
    struct report_entities entities;
    REPORT_ARRAY(struct report_figure) figures; /* of each entity */
    struct report_amount all[REPORT_GROUPS];    /* all CPU time, what was never sampled included */
};

/* @return false: no memory; out is to be freed in any case */
bool report_tally_make(struct report_tally *out, const struct report_model *model,
                       enum report_by by);

enum report_sort { REPORT_SORT_SELF, REPORT_SORT_TOTAL };

/*
 * Sorts the entities that have figures: by self, total, name, or by total, self, name; in a comparison by the size of that
 * change first.
 *
 * @return their numbers, to be freed; NULL: no memory
 */
uint32_t *report_tally_order(const struct report_tally *tally, enum report_sort sort,
                             bool comparison, size_t *count);

void report_tally_free(struct report_tally *tally);

/* @return all CPU time of a group, what was never sampled included */
struct report_amount report_group_all(const struct report_model *model, uint32_t group);

/* @return that of both groups */
struct report_amount report_all(const struct report_model *model);

/* @return a difference: new - old */
static inline int64_t report_change(const struct report_amount values[REPORT_GROUPS])
{
    return (int64_t)(values[1].value - values[0].value);
}

#endif
