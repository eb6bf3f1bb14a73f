/*
 * The process's own view of its live table, and the free slots, which threads take and give back without a lock.
 *
 * A thread has up to two lists of SFB_LIVE_BATCH free slots. A full list goes to the other threads. A new list comes from
 * them, or from the slots never used before.
 */
#ifndef PROFILER_AGENT_LIVE_TABLE_H
#define PROFILER_AGENT_LIVE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/protocol/live.h"

enum { SFB_LIVE_BATCH = 64 };

struct sfb_live_walk;

struct sfb_live_table {
    struct sfb_live *map;
    struct sfb_live_slot *slots;
    uint64_t *buckets;
    uint32_t bucket_mask; /* a copy: map->bucket_count may read 0 in a late thread */
    struct sfb_live_stack *stacks;
    struct sfb_live_piece *pieces;
    uint64_t *marks;
    uint64_t *beside;
    uint32_t beside_mask;
    uint8_t *lists;
    struct sfb_live_freed *freed;
    uint32_t freed_room; /* a copy, as bucket_mask is; 0: freed blocks are not remembered */
    uint32_t slot_room, stack_room, piece_room;
    uint32_t buckets_shift; /* log2 of the buckets that get memory at once */
    bool fences;            /* threads have barriers of their own: reclaim.h */
};

/*
 * A thread has a copy of the table that it uses. If the table is stopped and another begun, a late thread goes on in the
 * old one. The old memory stays mapped, and none of its slot numbers gets into the new table.
 */
struct sfb_live_thread {
    struct sfb_live_table table;
    uint32_t epoch; /* of `table`; 0: no table */
    uint32_t head;  /* of the list in use; 0: empty */
    uint32_t count; /* slots in that list */
    uint32_t spare; /* another full list; 0: no list */
    uint32_t level; /* sampling level when it last took or gave a list */
    bool ended;     /* its lists were given back: it keeps no slots any more */
    uint8_t rounds; /* of destructors at the thread's exit */
    double until;   /* sampling: bytes until the next sample; < 0: to be drawn */
    uint64_t random;
    uint64_t unsampled;                   /* blocks not yet counted in the map */
    uint64_t buckets_ready, beside_ready; /* copies: as in struct sfb_live */
    struct sfb_live_walk *walk;
};

/* Set when a table begins. Its page is zeroed in a child of fork(). */
struct sfb_live_here {
    uint32_t epoch;   /* of the table, from 1; 0: no table in this process */
    uint32_t started; /* this process has begun a table itself: it inherits none */
};

extern struct sfb_live_table sfb_live_table; /* the last one begun; read by sfb_live_table_now() */
extern struct sfb_live_here *sfb_live_here;  /* never NULL; replaced once */

/* @return the epoch of the table; 0: no table in this process */
static inline uint32_t sfb_live_epoch(void)
{
    /* The first table's start replaces the page by a zeroed one: the order of the two loads does not matter. */
    const struct sfb_live_here *here = __atomic_load_n(&sfb_live_here, __ATOMIC_RELAXED);

    return __atomic_load_n(&here->epoch, __ATOMIC_ACQUIRE);
}

/* Adds to a counter that threads share. */
static inline void sfb_live_count_up(uint64_t *count, uint64_t by)
{
    __atomic_fetch_add(count, by, __ATOMIC_RELAXED);
}

/* Fills in a new map. It becomes the table once its epoch is published. */
void sfb_live_table_use(struct sfb_live *map, bool fences);

/* Copies the table. @return its epoch; 0: no table in this process, and out is not written */
uint32_t sfb_live_table_now(struct sfb_live_table *out);

/* Copies the header of a table while other threads write it. */
void sfb_live_table_head(const struct sfb_live_table *table, struct sfb_live *out);

/* Takes a list for a thread without one. @return false: no slot is left, or no memory for it */
bool sfb_live_table_refill(struct sfb_live_thread *thread);

/* Puts a full list away; the thread starts an empty one. */
void sfb_live_table_spill(struct sfb_live_thread *thread);

/* Gives all slots of a thread to the other threads. */
void sfb_live_table_give_back(struct sfb_live_thread *thread);

/* @return a slot; 0: no slot is left */
static inline uint32_t sfb_live_table_take(struct sfb_live_thread *t)
{
    uint32_t slot, next;

    if (t->head == 0 && !sfb_live_table_refill(t))
        return 0;
    slot = t->head;
    next = (uint32_t)(__atomic_load_n(&t->table.slots[slot].block, __ATOMIC_RELAXED) >> 1);
    /* The program may have overwritten the link. */
    t->head = next < t->table.map->slot_room ? next : 0;
    t->count--;
    return slot;
}

/* Frees a slot. A full list is passed on only at the next free: alternating calls stay within one list. */
static inline void sfb_live_table_give(struct sfb_live_thread *t, uint32_t slot)
{
    if (t->count >= SFB_LIVE_BATCH)
        sfb_live_table_spill(t);
    __atomic_store_n(&t->table.slots[slot].block, (uint64_t)t->head << 1 | 1, __ATOMIC_RELEASE);
    t->head = slot;
    t->count++;
    if (__builtin_expect(t->ended, 0))
        sfb_live_table_spill(t);
}

#endif
