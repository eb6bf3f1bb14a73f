/* What a user can do about what is missing: a line below the line that says it. */
#ifndef PROFILER_REPORT_TEXT_ADVICE_H
#define PROFILER_REPORT_TEXT_ADVICE_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* @param data  what lost it */
void report_advice_loss(FILE *to, const struct report_data *data, uint32_t reason);

/* About programs that end before they are found; nothing where report_advice_loss() says it. */
void report_advice_unfound(FILE *to, const struct report_data *data);

/* About CPU time that was never sampled. */
void report_advice_unsampled(FILE *to, const struct report_model *model);

/* About stacks whose outer end is missing. */
void report_advice_truncated(FILE *to, const struct report_model *model);

/*
 * About functions without names.
 *
 * @param modules  indices, the worst first
 */
void report_advice_nameless(FILE *to, const struct report_model *model, const uint32_t *modules,
                            size_t count);

#endif
