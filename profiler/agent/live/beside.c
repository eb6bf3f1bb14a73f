#include "profiler/agent/live/beside.h"

#include "profiler/agent/live/map.h"

#define GONE UINT64_C(0xffffffff) /* a removed entry: the search continues after it */

enum { WINDOW = 64, PARTS = 64 };

static uint64_t hash_of(uint64_t address)
{
    return address * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t entry_of(uint64_t address, uint32_t slot)
{
    return (hash_of(address) & ~UINT64_C(0xffffffff)) | slot;
}

static uint32_t window_of(const struct sfb_live_table *t, uint64_t address)
{
    return (uint32_t)(hash_of(address) >> 20) & t->beside_mask & ~(uint32_t)(WINDOW - 1);
}

static bool is_vacant(uint64_t entry)
{
    return entry == 0 || entry == GONE;
}

static uint32_t entries_at_once(const struct sfb_live_table *t)
{
    const uint32_t page = SFB_LIVE_PAGE / sizeof(uint64_t), part = (t->beside_mask + 1) / PARTS;

    return part > page ? part : page;
}

/* A bit for each part that has memory. */
static bool is_ready(struct sfb_live_thread *thread, uint32_t window)
{
    const struct sfb_live_table *t = &thread->table;
    const uint64_t bit = (uint64_t)1 << window / entries_at_once(t);

    if (!(thread->beside_ready & bit))
        thread->beside_ready = __atomic_load_n(&t->map->beside_ready, __ATOMIC_ACQUIRE);
    return thread->beside_ready & bit;
}

static bool make_ready(struct sfb_live_thread *thread, uint32_t window)
{
    const struct sfb_live_table *t = &thread->table;
    const uint32_t each = entries_at_once(t), part = window / each;

    if (is_ready(thread, window))
        return true;
    if (!sfb_live_map_populate(
            t->map, (uint64_t)((uint8_t *)(t->beside + (size_t)part * each) - (uint8_t *)t->map),
            each * sizeof(uint64_t)))
        return false;
    __atomic_fetch_or(&t->map->beside_ready, (uint64_t)1 << part, __ATOMIC_ACQ_REL);
    return true;
}

bool sfb_live_beside_put(struct sfb_live_thread *thread, const void *p, uint32_t slot)
{
    const struct sfb_live_table *t = &thread->table;
    const uint32_t window = window_of(t, (uintptr_t)p);

    if (!make_ready(thread, window))
        return false;
    for (uint32_t i = 0; i < WINDOW; i++) {
        uint64_t *entry = &t->beside[window + i], found = __atomic_load_n(entry, __ATOMIC_RELAXED);

        if (is_vacant(found) &&
            __atomic_compare_exchange_n(entry, &found, entry_of((uintptr_t)p, slot), false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static bool has_block(const struct sfb_live_table *t, uint32_t slot, uintptr_t address)
{
    uint64_t block;

    if (slot >= t->slot_room)
        return false;
    block = __atomic_load_n(&t->slots[slot].block, __ATOMIC_RELAXED);
    return sfb_live_is_block(block) && sfb_live_address(block) == address;
}

uint32_t sfb_live_beside_find(struct sfb_live_thread *thread, const void *p)
{
    const struct sfb_live_table *t = &thread->table;
    const uint32_t window = window_of(t, (uintptr_t)p);

    if (!is_ready(thread, window))
        return 0;
    for (uint32_t i = 0; i < WINDOW; i++) {
        const uint64_t entry = __atomic_load_n(&t->beside[window + i], __ATOMIC_ACQUIRE);

        if (entry == 0)
            break;
        if (entry == entry_of((uintptr_t)p, (uint32_t)entry) && entry != GONE &&
            has_block(t, (uint32_t)entry, (uintptr_t)p))
            return (uint32_t)entry;
    }
    return 0;
}

void sfb_live_beside_remove(struct sfb_live_thread *thread, uint64_t address, uint32_t slot)
{
    const struct sfb_live_table *t = &thread->table;
    const uint32_t window = window_of(t, address);

    if (!is_ready(thread, window))
        return;
    for (uint32_t i = 0; i < WINDOW; i++) {
        uint64_t found = entry_of(address, slot);

        if (__atomic_compare_exchange_n(&t->beside[window + i], &found, GONE, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
}
