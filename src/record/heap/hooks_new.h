/*
 * operator new, in all its forms: see hooks.h. A throw passes through no frame of ours: who throws was jumped to.
 *
 * Where the next one is the C++ library's, which calls malloc(), these call the next malloc() themselves; memory that is
 * short is that one's business. Another one is called in its form that does not throw.
 */
#ifndef SFB_RECORD_HEAP_HOOKS_NEW_H
#define SFB_RECORD_HEAP_HOOKS_NEW_H

#include "record/heap/hooks.h"

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
