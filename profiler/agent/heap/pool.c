#include "profiler/agent/heap/pool.h"

#include <errno.h>
#include <string.h>

#include "profiler/agent/heap/heap.h"

enum { HEAD = 16 }; /* the size is stored before each block */

uint8_t sfb_heap_pool[SFB_HEAP_POOL] __attribute__((aligned(16)));

static uint32_t used;

void *sfb_heap_pool_take(size_t size, size_t alignment)
{
    uint32_t before = __atomic_load_n(&used, __ATOMIC_RELAXED), at;

    if (alignment < HEAD)
        alignment = HEAD;
    do {
        const uintptr_t start = (uintptr_t)sfb_heap_pool;
        const uintptr_t block = (start + before + HEAD + alignment - 1) & ~(alignment - 1);

        if (size > SFB_HEAP_POOL || alignment > SFB_HEAP_POOL ||
            block - start + size > SFB_HEAP_POOL) {
            errno = ENOMEM;
            return NULL;
        }
        at = (uint32_t)(block - start);
    } while (!__atomic_compare_exchange_n(&used, &before, at + (uint32_t)size, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    __atomic_store_n(&sfb_heap.used_pool, true, __ATOMIC_RELAXED);
    memcpy(sfb_heap_pool + at - sizeof size, &size, sizeof size);
    return sfb_heap_pool + at;
}

size_t sfb_heap_pool_size(const void *block)
{
    size_t size;

    memcpy(&size, (const uint8_t *)block - sizeof size, sizeof size);
    return size;
}
