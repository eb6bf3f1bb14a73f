/*
 * Deferred events. Such an event contradicts the known state: it allocates a live address, or frees a dead one. The
 * clocks of two processors may order events wrongly by some ns, so the other thread's event may still come. Until then
 * all events of the address are deferred.
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_DEFERRED_H
#define PROFILER_COLLECTOR_HEAP_HEAP_DEFERRED_H

#include <stddef.h>

#include "profiler/collector/heap/heap_action.h"

enum { SFB_HEAP_DEFERRED_MAX = 4096, SFB_HEAP_DEFERRED_BUCKETS = 1024 };

struct sfb_heap_deferred_entry {
    struct sfb_heap_action action; /* pointer 0: removed */
    uint32_t next; /* place + 1 of the next entry in its bucket, in order of arrival; 0: last */
};

struct sfb_heap_deferred {
    struct sfb_heap_deferred_entry *entries; /* indexed by number modulo SFB_HEAP_DEFERRED_MAX */
    uint32_t buckets[SFB_HEAP_DEFERRED_BUCKETS];
    uint64_t first, end; /* numbers: of the oldest entry, and after the newest */
};

/* @return false: no memory, or full until the oldest is taken out */
bool sfb_heap_deferred_add(struct sfb_heap_deferred *deferred,
                           const struct sfb_heap_action *action);

/* Whether events of an address are deferred. */
bool sfb_heap_deferred_has(const struct sfb_heap_deferred *deferred, uint64_t pointer);

/*
 * Takes out the next possible event of an address: the oldest that allocates it while dead, or frees it while live. Skips
 * events whose thread has an older one for the address.
 *
 * @param any  if no event is possible, takes the oldest
 */
bool sfb_heap_deferred_take(struct sfb_heap_deferred *deferred, struct sfb_heap_action *out,
                            uint64_t pointer, bool lives, bool any);

/* @return the oldest event; NULL: none is deferred */
static inline const struct sfb_heap_action *sfb_heap_deferred_first(
    const struct sfb_heap_deferred *a)
{
    return a->first == a->end ? NULL : &a->entries[a->first % SFB_HEAP_DEFERRED_MAX].action;
}

void sfb_heap_deferred_free(struct sfb_heap_deferred *a);

#endif
