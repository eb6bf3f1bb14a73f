/* Events of a process in their order: blocks live and die, and none twice. */
#ifndef RECORDER_HEAP_REPLAY_H
#define RECORDER_HEAP_REPLAY_H

#include "recorder/heap_action.h"
#include "recorder/heap_process.h"

/* Takes the next event of a block. Times ascend, but for what comes late. */
void sfb_heap_replay(struct sfb_heap_process *process, const struct sfb_heap_action *action);

/* The same of a mapping: a free may be of any part of several ones. */
void sfb_heap_replay_map(struct sfb_heap_process *process, const struct sfb_heap_action *action);

/* realloc() has begun: takes a block out, which may live on. @return false: nobody knows it */
bool sfb_heap_replay_take(struct sfb_heap_process *process, struct sfb_heap_block *out,
                          uint64_t pointer);

/* It does, as it was. */
void sfb_heap_replay_return(struct sfb_heap_process *process, const struct sfb_heap_block *block);

/* Nothing will come any more: what waits is judged as it is. */
void sfb_heap_replay_end(struct sfb_heap_process *process);

#endif
