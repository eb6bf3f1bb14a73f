/* Samples of a recording from outside: copied stacks, which are walked here. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_SAMPLES_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_SAMPLES_H

#include "profiler/collector/outside/outside_options.h"

/*
 * Takes a sample of an event, or a stack that was copied otherwise.
 *
 * @param weight  CPU time that it stands for, in ns
 * @return false: the recording cannot be written, or no memory
 */
bool outside_take_sample(struct outside *outside, const struct perf_layout *layout,
                         const struct perf_sample *sample, uint64_t weight);
bool outside_take_stack(struct outside *outside, uint32_t pid, uint32_t tid, uint64_t time,
                        uint64_t weight, const struct sfb_copied_stack *stack);

#endif
