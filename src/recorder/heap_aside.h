/*
 * Events that contradict what is known: an address that lives is allocated, one that does not is freed. The clocks of
 * two processors may tell an order that is wrong by some ns, so the other thread's event may still come: the events of
 * such an address wait for it.
 */
#ifndef RECORDER_HEAP_ASIDE_H
#define RECORDER_HEAP_ASIDE_H

#include <stddef.h>

#include "recorder/heap_action.h"

enum { SFB_HEAP_ASIDE_MAX = 4096, SFB_HEAP_ASIDE_BUCKETS = 1024 };

struct sfb_heap_aside_entry {
    struct sfb_heap_action action; /* pointer 0: it was taken out */
    uint32_t next; /* in its bucket, in the order in which they came: place + 1; 0: none */
};

struct sfb_heap_aside {
    struct sfb_heap_aside_entry *entries; /* number modulo SFB_HEAP_ASIDE_MAX is the place */
    uint32_t buckets[SFB_HEAP_ASIDE_BUCKETS];
    uint64_t first, end; /* numbers: of the oldest, and behind the newest */
};

/* @return false: no memory, or no room before the oldest is taken out */
bool sfb_heap_aside_add(struct sfb_heap_aside *aside, const struct sfb_heap_action *action);

/* Whether events of an address wait. */
bool sfb_heap_aside_has(const struct sfb_heap_aside *aside, uint64_t pointer);

/*
 * Takes out the next event of an address that can happen: the oldest one that allocates where it is dead, or frees where
 * it lives, if its thread has no older one waiting for the address.
 *
 * @param any  where there is none, the oldest
 */
bool sfb_heap_aside_take(struct sfb_heap_aside *aside, struct sfb_heap_action *out,
                         uint64_t pointer, bool lives, bool any);

/* @return the one that waits longest; NULL: none waits */
static inline const struct sfb_heap_action *sfb_heap_aside_first(const struct sfb_heap_aside *a)
{
    return a->first == a->end ? NULL : &a->entries[a->first % SFB_HEAP_ASIDE_MAX].action;
}

void sfb_heap_aside_free(struct sfb_heap_aside *aside);

#endif
