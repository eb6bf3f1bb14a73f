/*
 * operator new, in all its forms: see hooks.h.
 *
 * If the next operator is the C++ library's, which calls malloc(), these call the next malloc() themselves. Only a failed
 * allocation goes to the library's. If the program has operators of its own, all calls are passed on to these: next.h.
 */
#ifndef PROFILER_AGENT_HEAP_HOOKS_NEW_H
#define PROFILER_AGENT_HEAP_HOOKS_NEW_H

#include "profiler/agent/heap/hooks.h"

/* The personality routine of sfb_heap_call_new()'s frame. It has no landing pad, and needs no C++ runtime. */
int sfb_heap_unwound(int version, int actions);

void *sfb_heap_new(size_t size, SFB_HEAP_CALLER);
void *sfb_heap_new_nothrow(size_t size, size_t nothrow, SFB_HEAP_CALLER);
void *sfb_heap_new_aligned(size_t size, size_t alignment, SFB_HEAP_CALLER);
void *sfb_heap_new_aligned_nothrow(size_t size, size_t alignment, size_t nothrow, SFB_HEAP_CALLER);
void *sfb_heap_new_array(size_t size, SFB_HEAP_CALLER);
void *sfb_heap_new_array_nothrow(size_t size, size_t nothrow, SFB_HEAP_CALLER);
void *sfb_heap_new_array_aligned(size_t size, size_t alignment, SFB_HEAP_CALLER);
void *sfb_heap_new_array_aligned_nothrow(size_t size, size_t alignment, size_t nothrow,
                                         SFB_HEAP_CALLER);

#endif
