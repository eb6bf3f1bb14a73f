/* What a thread did to the heap: an event of its ring, judged, or a part of one. */
#ifndef RECORDER_HEAP_ACTION_H
#define RECORDER_HEAP_ACTION_H

#include <stdbool.h>
#include <stdint.h>

struct sfb_heap_action {
    uint64_t time; /* as sfb_heap_clock counts */
    uint64_t pointer;
    uint64_t size;
    uint32_t thread; /* id in the recording */
    uint32_t site;   /* of an allocation: index */
    uint16_t slack;
    uint16_t chain;
    bool frees;
    bool temporary;   /* it frees what the same thread's last event allocated */
    bool reallocates; /* it came of realloc() of another block */
};

#endif
