/* Two recordings, or groups of them, as a table of what changed. */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "report/text/top.h"

/*
 * Those that changed most come first. Shares are of all CPU time of the old ones. The last line is of all that are left
 * out, so that the changes of self add up to that of all CPU time.
 *
 * @param top  its percent is of a change's size
 * @return false: no memory
 */
bool report_diff_write(FILE *to, const struct report_model *model, const struct report_style *style,
                       const struct report_top *top);

#endif
