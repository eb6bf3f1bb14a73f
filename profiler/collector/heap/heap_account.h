/* Adds an allocation or a free to the sums, and writes it into the file. The caller has checked that it is possible. */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_ACCOUNT_H
#define PROFILER_COLLECTOR_HEAP_HEAP_ACCOUNT_H

#include "profiler/collector/heap/heap_action.h"
#include "profiler/collector/heap/heap_process.h"

void sfb_heap_account_allocation(struct sfb_heap_process *process,
                                 const struct sfb_heap_action *action);

/* @param action  the free's; NULL: thread and time are unknown */
void sfb_heap_account_free(struct sfb_heap_process *process, const struct sfb_heap_block *block,
                           const struct sfb_heap_action *action);

#endif
