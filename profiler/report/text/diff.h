/* Two recordings, or groups of them, as a table of what changed. */
#ifndef PROFILER_REPORT_TEXT_DIFF_H
#define PROFILER_REPORT_TEXT_DIFF_H

#include "profiler/report/text/top.h"

/*
 * The largest changes come first. Shares are of all CPU time of the old recordings. The last line sums up all entries
 * that are left out, so that the changes of self add up to the change of all CPU time.
 *
 * @param top  its percent is of a change's size
 * @return false: no memory
 */
bool report_diff_write(FILE *to, const struct report_model *model, const struct report_style *style,
                       const struct report_top *top);

#endif
