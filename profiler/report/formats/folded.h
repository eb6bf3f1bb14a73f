/* Folded stacks: "thread;outermost;...;innermost WEIGHT" a line, as flamegraph.pl, speedscope and Firefox's profiler read. */
#ifndef PROFILER_REPORT_FORMATS_FOLDED_H
#define PROFILER_REPORT_FORMATS_FOLDED_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * Equal lines are one, by the thread's name. Weights are samples: readers make as many of a line. A stack that could not be
 * taken is a frame "[no stack]", frames that were left out "[omitted]", and the outer end of a stack that is cut off
 * "[truncated]". Between a function and what awaits it stands "[await]". A `;` of a name is written as `:`.
 *
 * @return false: no memory
 */
bool report_folded_write(FILE *to, const struct report_model *model);

/* The same with CPU time: what was never sampled is a frame "[unsampled]", and the sum is that of all recorded threads. */
bool report_folded_ns_write(FILE *to, const struct report_model *model);

#endif
