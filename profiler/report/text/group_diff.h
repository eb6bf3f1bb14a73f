/* Two groups of recordings, compared by their means: what changed, and how far recordings of one group differ. */
#ifndef PROFILER_REPORT_TEXT_GROUP_DIFF_H
#define PROFILER_REPORT_TEXT_GROUP_DIFF_H

#include "profiler/report/text/top.h"

/*
 * Each recording has one share of its own CPU time for each function: load and length do not matter. Values are means of these
 * shares, in percent; behind a change is its standard error, from the spread between recordings: sqrt(s0^2/n0 + s1^2/n1). Of a
 * group of one it is unknown.
 *
 * @param top  its percent is of a change's size
 * @return false: no memory
 */
bool report_group_diff_write(FILE *to, const struct report_model *model,
                             const struct report_style *style, const struct report_top *top);

#endif
