/* How many blocks of a heap are of which size, and live for how long. */
#ifndef PROFILER_REPORT_TEXT_HISTOGRAM_H
#define PROFILER_REPORT_TEXT_HISTOGRAM_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

enum report_histogram { REPORT_SIZES, REPORT_LIFETIMES };

/*
 * Sizes count all allocated blocks. Lifetimes count freed blocks, and say how many were not freed.
 *
 * @param rows  at most: neighbours are merged
 */
void report_histogram_write(FILE *to, const struct report_model *model,
                            const struct report_style *style, enum report_histogram which,
                            size_t rows);

/* Whether there is anything in it. */
bool report_histogram_has(const struct report_model *model, enum report_histogram which);

#endif
