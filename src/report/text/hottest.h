/* The stack that takes most CPU time. */
#ifndef REPORT_HOTTEST_H
#define REPORT_HOTTEST_H

#include "report/model.h"
#include "report/text/style.h"

/*
 * Stacks of the same functions are one, whichever of their lines was reached; the lines shown are those of the
 * heaviest. Nothing is written where there is no stack.
 *
 * @return false: no memory
 */
bool report_hottest_write(FILE *to, const struct report_model *model,
                          const struct report_style *style);

#endif
