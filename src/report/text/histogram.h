/* How many blocks of a heap are of which size, and live for how long. */
#ifndef REPORT_HISTOGRAM_H
#define REPORT_HISTOGRAM_H

#include "report/model.h"
#include "report/text/style.h"

enum report_histogram { REPORT_SIZES, REPORT_LIFETIMES };

/*
 * Of sizes, all blocks that were allocated; of lifetimes, those that were freed, and how many were not.
 *
 * @param rows  at most: neighbours are put together
 */
void report_histogram_write(FILE *to, const struct report_model *model,
                            const struct report_style *style, enum report_histogram which,
                            size_t rows);

/* Whether there is anything in it. */
bool report_histogram_has(const struct report_model *model, enum report_histogram which);

#endif
