#include "profiler/collector/heap/heap_deferred.h"

#include <stdlib.h>

static uint32_t *bucket_of(struct sfb_heap_deferred *a, uint64_t pointer)
{
    return &a->buckets[(pointer * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SFB_HEAP_DEFERRED_BUCKETS];
}

bool sfb_heap_deferred_add(struct sfb_heap_deferred *a, const struct sfb_heap_action *action)
{
    uint32_t *link = bucket_of(a, action->pointer);
    const uint32_t place = (uint32_t)(a->end % SFB_HEAP_DEFERRED_MAX);

    if (!a->entries)
        a->entries = calloc(SFB_HEAP_DEFERRED_MAX, sizeof *a->entries);
    if (!a->entries || a->end - a->first == SFB_HEAP_DEFERRED_MAX)
        return false;
    while (*link != 0)
        link = &a->entries[*link - 1].next;
    a->entries[place] = (struct sfb_heap_deferred_entry){ *action, 0 };
    *link = place + 1;
    a->end++;
    return true;
}

static uint32_t first_of(const struct sfb_heap_deferred *a, uint64_t pointer)
{
    return a->first == a->end ? 0 : *bucket_of((struct sfb_heap_deferred *)(uintptr_t)a, pointer);
}

bool sfb_heap_deferred_has(const struct sfb_heap_deferred *a, uint64_t pointer)
{
    for (uint32_t i = first_of(a, pointer); i != 0; i = a->entries[i - 1].next)
        if (a->entries[i - 1].action.pointer == pointer)
            return true;
    return false;
}

/* Whether the same thread has an older event waiting for the address: its events keep their order. */
static bool is_behind(const struct sfb_heap_deferred *a, uint32_t entry)
{
    const struct sfb_heap_action *own = &a->entries[entry - 1].action;

    for (uint32_t i = first_of(a, own->pointer); i != entry; i = a->entries[i - 1].next)
        if (a->entries[i - 1].action.pointer == own->pointer &&
            a->entries[i - 1].action.thread == own->thread)
            return true;
    return false;
}

static void take_out(struct sfb_heap_deferred *a, uint32_t entry)
{
    uint32_t *link = bucket_of(a, a->entries[entry - 1].action.pointer);

    while (*link != entry)
        link = &a->entries[*link - 1].next;
    *link = a->entries[entry - 1].next;
    a->entries[entry - 1].action.pointer = 0;
    while (a->first < a->end && a->entries[a->first % SFB_HEAP_DEFERRED_MAX].action.pointer == 0)
        a->first++;
}

bool sfb_heap_deferred_take(struct sfb_heap_deferred *a, struct sfb_heap_action *out,
                            uint64_t pointer, bool lives, bool any)
{
    uint32_t best = 0, oldest = 0;

    for (uint32_t i = first_of(a, pointer); i != 0; i = a->entries[i - 1].next) {
        const struct sfb_heap_action *action = &a->entries[i - 1].action;

        if (action->pointer != pointer || is_behind(a, i))
            continue;
        if (oldest == 0 || action->time < a->entries[oldest - 1].action.time)
            oldest = i;
        if (action->frees == lives &&
            (best == 0 || action->time < a->entries[best - 1].action.time))
            best = i;
    }
    if (best == 0 && any)
        best = oldest;
    if (best == 0)
        return false;
    *out = a->entries[best - 1].action;
    take_out(a, best);
    return true;
}

void sfb_heap_deferred_free(struct sfb_heap_deferred *a)
{
    free(a->entries);
    *a = (struct sfb_heap_deferred){ 0 };
}
