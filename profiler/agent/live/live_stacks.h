/*
 * The stacks of the table, each stored once and found by its hash. Insertion takes no lock: it takes cells, writes the
 * stack there, then publishes it in a bucket. The loser of a race uses the winner's stack, and gives its own cells back.
 *
 * A stack may be freed at any time: reclaim.h. A bucket may lead to a freed stack, or to the next stack in its place. So
 * a stack is found only if its own hash matches, and kept only if its generation is unchanged.
 */
#ifndef PROFILER_AGENT_LIVE_LIVE_STACKS_H
#define PROFILER_AGENT_LIVE_LIVE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/live/table.h"

enum { SFB_LIVE_WINDOW = 64 }; /* buckets probed for a hash */

/* A stack, and the state in which it was found. */
struct sfb_live_name {
    uint32_t id; /* 0: none */
    uint32_t state;
};

/* Id and generation, as sfb_live_what() wants them. */
static inline uint32_t sfb_live_name_bits(struct sfb_live_name name)
{
    return name.id == 0 ? 0
                        : name.id * (uint32_t)SFB_LIVE_GENERATIONS +
                              sfb_live_generation(name.state) % SFB_LIVE_GENERATIONS;
}

/* Number of the first bucket of a hash's window. */
static inline uint32_t sfb_live_window(const struct sfb_live_table *table, uint64_t hash)
{
    return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) & table->bucket_mask &
           ~(uint32_t)(SFB_LIVE_WINDOW - 1);
}

/* Where a hash begins in its window. */
static inline uint32_t sfb_live_in_window(uint64_t hash, uint32_t step)
{
    return (uint32_t)((hash >> 3) + step) % SFB_LIVE_WINDOW;
}

static inline uint64_t sfb_live_bucket(uint64_t hash, uint32_t id)
{
    return (hash & ~(uint64_t)(SFB_LIVE_STACK_MAX - 1)) | id;
}

static inline uint32_t sfb_live_bucket_id(uint64_t bucket)
{
    return (uint32_t)bucket & (SFB_LIVE_STACK_MAX - 1);
}

/* Whether a bucket leads to a stack of this hash. @param out  written if so */
static inline bool sfb_live_bucket_finds(const struct sfb_live_table *table, uint64_t bucket,
                                         uint64_t hash, struct sfb_live_name *out)
{
    const uint32_t id = sfb_live_bucket_id(bucket);

    if (bucket != sfb_live_bucket(hash, id) || id == 0 || id >= table->stack_room)
        return false;
    out->state = __atomic_load_n(&table->stacks[id].state, __ATOMIC_ACQUIRE);
    out->id = id;
    return sfb_live_phase(out->state) != SFB_LIVE_NO_STACK &&
           __atomic_load_n(&table->stacks[id].hash, __ATOMIC_RELAXED) == hash;
}

/* The hash's buckets have memory: sfb_live_stacks_prepare(). @return a stack; id 0: not stored */
static inline struct sfb_live_name sfb_live_stack_find(const struct sfb_live_table *table,
                                                       uint64_t hash)
{
    const uint64_t *window = table->buckets + sfb_live_window(table, hash);

    for (uint32_t i = 0; i < SFB_LIVE_WINDOW; i++) {
        const uint64_t bucket =
            __atomic_load_n(&window[sfb_live_in_window(hash, i)], __ATOMIC_ACQUIRE);
        struct sfb_live_name name;

        if (bucket == 0)
            break;
        if (sfb_live_bucket_finds(table, bucket, hash, &name))
            return name;
    }
    return (struct sfb_live_name){ 0, 0 };
}

/* Slow path of sfb_live_stacks_prepare(): the thread does not yet know of the memory. */
bool sfb_live_stacks_populate(struct sfb_live_thread *thread, uint32_t part);

/* Ensures that the buckets of a hash have memory. @return false: no memory */
static inline bool sfb_live_stacks_prepare(struct sfb_live_thread *thread, uint64_t hash)
{
    const uint32_t part = sfb_live_window(&thread->table, hash) >> thread->table.buckets_shift;

    return (thread->buckets_ready >> part & 1) || sfb_live_stacks_populate(thread, part);
}

/* Whether the hash's buckets, or the cells, are all in use. */
bool sfb_live_stacks_are_full(const struct sfb_live_table *table, uint64_t hash);

/* Stores a stack. @return id 0: no room */
struct sfb_live_name sfb_live_stack_add(const struct sfb_live_table *table, uint64_t hash,
                                        uint32_t list, const void *cbf, size_t size);

/* Slow path of sfb_live_stack_keep(): the stack is doomed, or was when it was found. */
bool sfb_live_stack_rescue(const struct sfb_live_table *table, struct sfb_live_name name);

/*
 * Keeps a stack that a held slot names.
 *
 * @return false: it was freed meanwhile
 */
static inline bool sfb_live_stack_keep(const struct sfb_live_table *table,
                                       struct sfb_live_name name)
{
    const uint32_t state = __atomic_load_n(&table->stacks[name.id].state, __ATOMIC_SEQ_CST);

    return (state == name.state && sfb_live_phase(state) == SFB_LIVE_STACK) ||
           sfb_live_stack_rescue(table, name);
}

/* Frees a doomed stack. @return false: it is in use again */
bool sfb_live_stack_free(const struct sfb_live_table *table, uint32_t id, uint32_t state);

/* Counts an overrun block of a stack. */
void sfb_live_stack_overrun(const struct sfb_live_table *table, uint32_t id);

#endif
