/* How much a text says of what is missing. */
#ifndef PROFILER_REPORT_TEXT_DETAIL_H
#define PROFILER_REPORT_TEXT_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

enum report_detail {
    REPORT_DETAIL_CALM, /* losses from REPORT_CALM_PERCENT on, and what to do about each */
    REPORT_DETAIL_ALL   /* every loss, without advice: for `--check`, and for comments in files */
};

/* Below this share a loss changes nothing that a reader of the overview decides. */
#define REPORT_CALM_PERCENT 0.5

/*
 * Whether a text of this detail has a loss.
 *
 * @param all  what the loss is a share of; 0: there is nothing else, or its share is not known
 */
static inline bool report_detail_has(enum report_detail detail, uint64_t loss, uint64_t all)
{
    return loss > 0 && (detail == REPORT_DETAIL_ALL || all == 0 ||
                        100.0 * (double)loss >= REPORT_CALM_PERCENT * (double)all);
}

#endif
