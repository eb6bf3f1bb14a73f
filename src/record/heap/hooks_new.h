/*
 * operator new, in all its forms: see hooks.h.
 *
 * Where the next one is the C++ library's, which calls malloc(), these call the next malloc() themselves; memory that is
 * short is that one's business. Where the program has operators of its own, all is passed on to these: next.h.
 */
#ifndef SFB_RECORD_HEAP_HOOKS_NEW_H
#define SFB_RECORD_HEAP_HOOKS_NEW_H

#include "record/heap/hooks.h"

/* The personality of sfb_heap_call_new()'s frame. It has no landing pad, and needs no C++. */
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
