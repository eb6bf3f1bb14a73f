#include "record/live/stacks.h"

#include <string.h>

#include "record/live/map.h"

enum { CHUNK = 1 << 16 };

static bool have_memory(struct sfb_live *map, uint32_t end)
{
    uint32_t ready = __atomic_load_n(&map->units_ready, __ATOMIC_ACQUIRE);

    while (ready < end) {
        const uint32_t left = map->stack_units - ready,
                       more = left < CHUNK / SFB_LIVE_UNIT ? left : CHUNK / SFB_LIVE_UNIT;

        if (!sfb_live_map_populate(map, map->stacks_at + (uint64_t)ready * SFB_LIVE_UNIT,
                                   (uint64_t)more * SFB_LIVE_UNIT))
            return false;
        if (__atomic_compare_exchange_n(&map->units_ready, &ready, ready + more, false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
            ready += more;
    }
    return true;
}

static uint32_t take_place(struct sfb_live *map, uint32_t units)
{
    uint32_t at = __atomic_load_n(&map->units_used, __ATOMIC_RELAXED);

    do {
        if (units > map->stack_units - at || !have_memory(map, at + units))
            return 0;
    } while (!__atomic_compare_exchange_n(&map->units_used, &at, at + units, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return at;
}

static struct sfb_live_stack *stack_at(const struct sfb_live_table *table, uint32_t id)
{
    return (struct sfb_live_stack *)(void *)(table->stacks + (size_t)id * SFB_LIVE_UNIT);
}

/* @return the id that the hash has now; 0: there is no bucket for it */
static uint32_t publish(const struct sfb_live_table *table, uint64_t hash, uint32_t id)
{
    for (uint32_t i = 0; i < SFB_LIVE_STEPS; i++) {
        uint64_t expected = 0;

        if (__atomic_compare_exchange_n(sfb_live_bucket_at(table, hash, i), &expected,
                                        sfb_live_bucket(hash, id), false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
            return id;
        if (sfb_live_bucket_is_of(expected, hash))
            return sfb_live_bucket_id(expected);
    }
    return 0;
}

uint32_t sfb_live_stack_add(const struct sfb_live_table *table, uint64_t hash, uint32_t list,
                            const void *cbf, size_t size)
{
    const uint32_t id =
        size <= SFB_LIVE_CBF_MAX ? take_place(table->map, sfb_live_stack_units(size)) : 0;
    struct sfb_live_stack *stack = stack_at(table, id);

    if (id == 0)
        return 0;
    stack->hash = hash;
    stack->list = (uint16_t)list;
    stack->cbf_size = (uint16_t)size;
    memcpy(stack + 1, cbf, size);
    return publish(table, hash, id);
}

void sfb_live_stack_overrun(const struct sfb_live_table *table, uint32_t id)
{
    if (id > 0 && id < __atomic_load_n(&table->map->units_used, __ATOMIC_RELAXED))
        __atomic_fetch_add(&stack_at(table, id)->overruns, 1, __ATOMIC_RELAXED);
}
