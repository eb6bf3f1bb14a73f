/* Memory until the next allocator is known: dlsym() of older C libraries allocates. It is never freed. */
#ifndef PROFILER_AGENT_HEAP_POOL_H
#define PROFILER_AGENT_HEAP_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SFB_HEAP_POOL = 65536 };

extern uint8_t sfb_heap_pool[SFB_HEAP_POOL];

/* @return zeroed memory; NULL: no room. Threads: safe. */
void *sfb_heap_pool_take(size_t size, size_t alignment);

/* @return size in bytes of a block of the pool */
size_t sfb_heap_pool_size(const void *block);

static inline bool sfb_heap_pool_has(const void *block)
{
    return (uintptr_t)block - (uintptr_t)sfb_heap_pool < SFB_HEAP_POOL;
}

#endif
