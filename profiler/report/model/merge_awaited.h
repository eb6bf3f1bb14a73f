/* What threads of an input waited for, in the merged recording. */
#ifndef PROFILER_REPORT_MODEL_MERGE_AWAITED_H
#define PROFILER_REPORT_MODEL_MERGE_AWAITED_H

#include "profiler/report/model/merge_stacks.h"

/*
 * Gives the merged recording what a wait was for, once. A futex of a module is one in all inputs, as its module is. Others are
 * known by the name of their memory alone: addresses of two runs have nothing in common.
 *
 * @param id  written; 0: not known
 * @return false: the merge failed
 */
bool merge_awaited_find(struct merge_stacks *stacks, const struct report_wait *wait, uint32_t *id);

#endif
