/*
 * What the entry points of entry_*.S hand on: the arguments, and where their caller stands: its pc, sp and fp behind the
 * call. They are jumped to, so that there is no frame of ours below the program's.
 */
#ifndef SFB_RECORD_HEAP_HOOKS_H
#define SFB_RECORD_HEAP_HOOKS_H

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
