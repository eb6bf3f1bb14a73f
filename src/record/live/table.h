/*
 * What the process knows of its own live table, and the slots of it: taken and given back by threads without a lock.
 *
 * A thread has up to two lists of free slots of SFB_LIVE_BATCH each. A full one goes to the other threads, an empty one
 * comes from them, or from the slots that were never used.
 */
#ifndef SFB_RECORD_LIVE_TABLE_H
#define SFB_RECORD_LIVE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/live.h"

enum { SFB_LIVE_BATCH = 64 };

struct sfb_live_walk;

struct sfb_live_table {
    struct sfb_live *map;
    struct sfb_live_slot *slots;
    uint64_t *buckets;
    uint32_t
        bucket_mask; /* not the map's own number: that is 0 when a thread comes late, after the end */
    uint8_t *stacks;
    uint8_t *lists;
};

/*
 * A thread has a copy of the table that it uses. Where that is stopped, and another begun, a thread that is late goes on in
 * the old one: its memory stays mapped, and no slot number of it gets into the new one.
 */
struct sfb_live_thread {
    struct sfb_live_table table;
    uint32_t epoch; /* of the table; 0: none */
    uint32_t head;  /* of the list that is in use; 0: empty */
    uint32_t count; /* in it */
    uint32_t spare; /* a full list; 0: none */
    uint32_t level; /* of sampling when a list was last taken */
    bool ended;     /* its lists were given back: it keeps no slot from now on */
    uint8_t rounds; /* of destructors at its end */
    double until;   /* sampling: bytes until the next one */
    uint64_t random;
    uint64_t unsampled; /* not counted in the map yet */
    struct sfb_live_walk *walk;
};

/* Set when a table is made; pages that a child of fork() does not have. */
struct sfb_live_here {
    uint32_t epoch;   /* number of the table, from 1 on; 0: this process has none */
    uint32_t started; /* this process itself has begun a table: it inherits none */
};

extern struct sfb_live_table sfb_live_table; /* the last one that was begun: sfb_live_table_now() */
extern struct sfb_live_here *sfb_live_here;  /* never NULL; replaced once */

/* @return the number of the table; 0: this process has none */
static inline uint32_t sfb_live_epoch(void)
{
    /* What the first table's start puts there is memory of zeros: the order of the two loads does not matter. */
    const struct sfb_live_here *here = __atomic_load_n(&sfb_live_here, __ATOMIC_RELAXED);

    return __atomic_load_n(&here->epoch, __ATOMIC_ACQUIRE);
}

/* Adds to a count of the map, or of this process. */
static inline void sfb_live_count_up(uint64_t *count, uint64_t by)
{
    __atomic_fetch_add(count, by, __ATOMIC_RELAXED);
}

/* A new map is the table once its number is published. */
void sfb_live_table_use(struct sfb_live *map);

/* Copies the table. @return its number; 0: this process has none, and nothing is written */
uint32_t sfb_live_table_now(struct sfb_live_table *out);

/* Copies the header of a table that others write meanwhile. */
void sfb_live_table_head(const struct sfb_live_table *table, struct sfb_live *out);

/* Takes a list when the thread has none left. @return false: no slot is left, or no memory for one */
bool sfb_live_table_refill(struct sfb_live_thread *thread);

/* Its list is full: the next one. */
void sfb_live_table_spill(struct sfb_live_thread *thread);

/* Gives all slots of a thread back to the others. */
void sfb_live_table_give_back(struct sfb_live_thread *thread);

/* @return a slot; 0: there is none */
static inline uint32_t sfb_live_table_take(struct sfb_live_thread *t)
{
    uint32_t slot, next;

    if (t->head == 0 && !sfb_live_table_refill(t))
        return 0;
    slot = t->head;
    next = (uint32_t)(__atomic_load_n(&t->table.slots[slot].block, __ATOMIC_RELAXED) >> 1);
    /* The program may have overwritten it. */
    t->head = next < t->table.map->slot_room ? next : 0;
    t->count--;
    return slot;
}

/* A slot is free from now on. A list is passed on when one more comes: who takes and gives in turn stays within it. */
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
