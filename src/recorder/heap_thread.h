/* Events of a thread, in its order: what is temporary, and what realloc() moves. */
#ifndef RECORDER_HEAP_THREAD_H
#define RECORDER_HEAP_THREAD_H

#include "recorder/heap_process.h"

struct sfb_heap_thread {
    uint32_t id;   /* in the recording */
    uint64_t last; /* the block that its last event allocated; 0: it was another event */
    struct sfb_heap_block moving; /* realloc() has begun for it */
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
 * realloc() is called for a block; sfb_heap_thread_allocated() or sfb_heap_thread_failed() says what became of it. Until
 * then it lives, and its address is nobody's. Another event says that realloc() has freed it.
 */
void sfb_heap_thread_moves(struct sfb_heap_process *process, struct sfb_heap_thread *thread,
                           uint64_t time, uint64_t pointer);
void sfb_heap_thread_failed(struct sfb_heap_process *process, struct sfb_heap_thread *thread);

/* It has ended. */
void sfb_heap_thread_ended(struct sfb_heap_process *process, struct sfb_heap_thread *thread);

#endif
