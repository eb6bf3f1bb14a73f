/* What an allocation and a free are in sums, and in the file. Whether they can be is asked before. */
#ifndef RECORDER_HEAP_ACCOUNT_H
#define RECORDER_HEAP_ACCOUNT_H

#include "recorder/heap_action.h"
#include "recorder/heap_process.h"

void sfb_heap_account_allocation(struct sfb_heap_process *process,
                                 const struct sfb_heap_action *action);

/* @param action  of who freed it; NULL: nobody knows who, and when */
void sfb_heap_account_free(struct sfb_heap_process *process, const struct sfb_heap_block *block,
                           const struct sfb_heap_action *action);

#endif
