/*
 * The stacks of the table: each once, found by its hash. Inserted without a lock: a place in the area is taken, the
 * stack written there, then published in its bucket. Who comes second uses the other's, and its own place is lost.
 */
#ifndef SFB_RECORD_LIVE_STACKS_H
#define SFB_RECORD_LIVE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "record/live/table.h"

enum { SFB_LIVE_STEPS = 64 }; /* buckets that a hash may be in */

static inline uint64_t *sfb_live_bucket_at(const struct sfb_live_table *table, uint64_t hash,
                                           uint32_t step)
{
    const uint64_t first = hash * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return &table->buckets[(first + step) & table->bucket_mask];
}

static inline bool sfb_live_bucket_is_of(uint64_t bucket, uint64_t hash)
{
    return sfb_live_bucket(hash, 0) == sfb_live_bucket(bucket, 0);
}

static inline uint32_t sfb_live_bucket_id(uint64_t bucket)
{
    return (uint32_t)bucket & (SFB_LIVE_STACK_MAX - 1);
}

/* @return the id of a stack; 0: it is not known */
static inline uint32_t sfb_live_stack_find(const struct sfb_live_table *table, uint64_t hash)
{
    for (uint32_t i = 0; i < SFB_LIVE_STEPS; i++) {
        const uint64_t bucket =
            __atomic_load_n(sfb_live_bucket_at(table, hash, i), __ATOMIC_ACQUIRE);

        if (bucket == 0)
            return 0;
        if (sfb_live_bucket_is_of(bucket, hash))
            return sfb_live_bucket_id(bucket);
    }
    return 0;
}

/* Adds one. @return its id; 0: there is no room */
uint32_t sfb_live_stack_add(const struct sfb_live_table *table, uint64_t hash, uint32_t list,
                            const void *cbf, size_t size);

/* A block of a stack was overrun. */
void sfb_live_stack_overrun(const struct sfb_live_table *table, uint32_t id);

#endif
