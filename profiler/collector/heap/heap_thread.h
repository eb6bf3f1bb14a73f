/* Events of a thread, in its order: recognises temporary blocks, and the moves of realloc(). */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_THREAD_H
#define PROFILER_COLLECTOR_HEAP_HEAP_THREAD_H

#include "profiler/collector/heap/heap_process.h"

struct sfb_heap_thread {
    uint32_t id;                           /* in the recording */
    uint32_t next;                         /* index in recent[] of its next event */
    uint64_t recent[SFB_HEAP_WITHIN_MOST]; /* blocks of its last events; 0: no allocation */
    struct sfb_heap_block moving;          /* the block of a realloc() in progress */
    bool moves, moves_temporary;
};

struct sfb_heap_allocation {
    uint64_t time, pointer, size, hash;
    uint16_t slack;
    bool reallocates, maps;
};

void sfb_heap_thread_allocated(struct sfb_heap_process *process, struct sfb_heap_thread *thread,
                               const struct sfb_heap_allocation *allocation);

void sfb_heap_thread_freed(struct sfb_heap_process *process, struct sfb_heap_thread *thread,
                           uint64_t time, uint64_t pointer);

void sfb_heap_thread_unmapped(struct sfb_heap_process *process, struct sfb_heap_thread *thread,
                              uint64_t time, uint64_t address, uint64_t size);

/*
 * At the call of realloc(). sfb_heap_thread_allocated() or sfb_heap_thread_failed() gives the outcome. Until then the
 * block is live, but its address is free. Any other event means that realloc() has freed it.
 */
void sfb_heap_thread_moves(struct sfb_heap_process *process, struct sfb_heap_thread *thread,
                           uint64_t time, uint64_t pointer);
void sfb_heap_thread_failed(struct sfb_heap_process *process, struct sfb_heap_thread *thread);

/* At the thread's exit. */
void sfb_heap_thread_ended(struct sfb_heap_process *process, struct sfb_heap_thread *thread);

#endif
