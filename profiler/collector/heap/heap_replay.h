/* Replays the events of a process in order: each block is allocated and freed once. */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_REPLAY_H
#define PROFILER_COLLECTOR_HEAP_HEAP_REPLAY_H

#include "profiler/collector/heap/heap_action.h"
#include "profiler/collector/heap/heap_process.h"

/* Replays the next event of a block. Times ascend, except for late events. */
void sfb_heap_replay(struct sfb_heap_process *process, const struct sfb_heap_action *action);

/* The same for a mapping: a free may cover parts of several mappings. */
void sfb_heap_replay_map(struct sfb_heap_process *process, const struct sfb_heap_action *action);

/* At the start of realloc(): takes out a block, which may live on. @return false: the block is unknown */
bool sfb_heap_replay_take(struct sfb_heap_process *process, struct sfb_heap_block *out,
                          uint64_t pointer);

/* Puts it back unchanged. */
void sfb_heap_replay_return(struct sfb_heap_process *process, const struct sfb_heap_block *block);

/* At the end: replays all deferred events as they are. */
void sfb_heap_replay_end(struct sfb_heap_process *process);

#endif
