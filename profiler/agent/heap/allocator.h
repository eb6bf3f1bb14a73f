/*
 * What the allocator itself says of its memory: how much is in use, and how much it holds from the system. The difference is
 * free memory that it keeps. mallinfo2() of the C library, mallctl() of jemalloc, and gperftools' property are asked;
 * of other allocators nothing is known.
 */
#ifndef PROFILER_AGENT_HEAP_ALLOCATOR_H
#define PROFILER_AGENT_HEAP_ALLOCATOR_H

#include <stdbool.h>

/* Finds the statistics of the allocator, once, before there are threads. Behind sfb_heap_next_find(). @return false: not found */
bool sfb_heap_allocator_find(void);

/*
 * Asks, if the last time is 20 ms ago or longer: a hundredth of the time at most. Puts the answer into the process's slot.
 * In the state AT_WORK alone: the thread is not in the allocator, whose locks this takes, and events of the question are
 * not recorded. errno is preserved.
 */
void sfb_heap_allocator_look(void);

/* The same, without a limit. */
void sfb_heap_allocator_look_now(void);

/* After fork(): a child's CPU time begins at 0, and its parent may have been at a look. */
void sfb_heap_allocator_forget(void);

#endif
