/*
 * C functions behind the entry points of entry_*.S. They get the arguments, and their caller's pc, sp and fp as they are
 * after the call. They are reached by a jump: no frame of ours lies below the program's.
 */
#ifndef PROFILER_AGENT_HEAP_HOOKS_H
#define PROFILER_AGENT_HEAP_HOOKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SFB_HEAP_CALLER uint64_t pc, uint64_t sp, uint64_t fp

void *sfb_heap_malloc(size_t size, SFB_HEAP_CALLER);
void *sfb_heap_calloc(size_t count, size_t size, SFB_HEAP_CALLER);
void *sfb_heap_realloc(void *block, size_t size, SFB_HEAP_CALLER);
void *sfb_heap_reallocarray(void *block, size_t count, size_t size, SFB_HEAP_CALLER);
int sfb_heap_posix_memalign(void **out, size_t alignment, size_t size, SFB_HEAP_CALLER);
void *sfb_heap_aligned_alloc(size_t alignment, size_t size, SFB_HEAP_CALLER);
void *sfb_heap_memalign(size_t alignment, size_t size, SFB_HEAP_CALLER);
void *sfb_heap_valloc(size_t size, SFB_HEAP_CALLER);
void *sfb_heap_pvalloc(size_t size, SFB_HEAP_CALLER);

#endif
