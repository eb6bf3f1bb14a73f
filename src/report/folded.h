/* Folded stacks: "thread;outermost;...;innermost NANOSECONDS" a line, as flamegraph.pl and speedscope read. */
#ifndef REPORT_FOLDED_H
#define REPORT_FOLDED_H

#include <stdio.h>

#include "report/model.h"

/*
 * Equal lines are one, by the thread's name. Weights are CPU time: their sum is that of all recorded threads. What
 * was never sampled is a frame "[unsampled]", a stack that could not be taken "[no stack]", frames that were left out
 * "[omitted]", and the outer end of a stack that is cut off "[truncated]". A `;` of a name is written as `:`.
 *
 * @return false: no memory
 */
bool report_folded_write(FILE *to, const struct report_model *model);

#endif
