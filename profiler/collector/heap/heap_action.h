/* An event of the heap, or a part of one, decoded from a thread's ring and checked. */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_ACTION_H
#define PROFILER_COLLECTOR_HEAP_HEAP_ACTION_H

#include <stdbool.h>
#include <stdint.h>

struct sfb_heap_action {
    uint64_t time; /* in counts of sfb_heap_clock */
    uint64_t pointer;
    uint64_t size;
    uint32_t thread; /* id in the recording */
    uint32_t site;   /* index; allocations only */
    uint16_t slack;
    uint16_t chain;
    bool frees;
    bool temporary;   /* frees a block of the same thread's last events */
    bool reallocates; /* the block comes from realloc() of another one */
};

#endif
