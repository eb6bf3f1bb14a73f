#include "record/live/table.h"

#include "record/live/map.h"

enum { CHUNK = 16384 }; /* slots that get memory at once: 256 KiB */

static struct sfb_live_here nowhere;

struct sfb_live_table sfb_live_table;
struct sfb_live_here *sfb_live_here = &nowhere;

void sfb_live_table_use(struct sfb_live *map)
{
    uint8_t *at = (uint8_t *)map;

    map->slots_used = 1; /* 0 stands for none */
    map->units_used = 1;
    sfb_live_table = (struct sfb_live_table){ .map = map,
                                              .slots = (void *)(at + map->slots_at),
                                              .buckets = (void *)(at + map->buckets_at),
                                              .bucket_mask = map->bucket_count - 1,
                                              .stacks = at + map->stacks_at,
                                              .lists = at + map->lists_at };
}

/* --- lists that threads share --------------------------------------------------------------------- */

/* A stack of lists: the first slot of each leads to the next list by its `what`. The count of changes makes a pop safe
 * that is overtaken by others. */
static void push(uint32_t first, uint32_t count)
{
    struct sfb_live *map = sfb_live_table.map;
    uint64_t head = __atomic_load_n(&map->free_batches, __ATOMIC_RELAXED), next;

    do {
        sfb_live_table.slots[first].what = (uint32_t)head | (uint64_t)count << 32;
        next = ((head >> 32) + 1) << 32 | first;
    } while (!__atomic_compare_exchange_n(&map->free_batches, &head, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    __atomic_fetch_add(&map->slots_free, count, __ATOMIC_RELAXED);
}

static bool pop(struct sfb_live_thread *t)
{
    struct sfb_live *map = sfb_live_table.map;
    uint64_t head = __atomic_load_n(&map->free_batches, __ATOMIC_ACQUIRE), next, what;
    uint32_t first;

    do {
        first = (uint32_t)head;
        if (first == 0 || first >= map->slot_room)
            return false;
        what = __atomic_load_n(&sfb_live_table.slots[first].what, __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 | (uint32_t)what;
    } while (!__atomic_compare_exchange_n(&map->free_batches, &head, next, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_ACQUIRE));
    t->head = first;
    t->count = (uint32_t)(what >> 32);
    if (t->count > SFB_LIVE_BATCH)
        t->count = SFB_LIVE_BATCH;
    __atomic_fetch_sub(&map->slots_free, t->count, __ATOMIC_RELAXED);
    return true;
}

/* --- slots that were never used ------------------------------------------------------------------- */

static bool have_memory(uint32_t end)
{
    struct sfb_live *map = sfb_live_table.map;
    uint32_t ready = __atomic_load_n(&map->slots_ready, __ATOMIC_ACQUIRE);

    while (ready < end) {
        const uint32_t left = map->slot_room - ready, more = left < CHUNK ? left : CHUNK;

        if (!sfb_live_map_populate(map, map->slots_at + ready * sizeof(struct sfb_live_slot),
                                   more * sizeof(struct sfb_live_slot)))
            return false;
        if (__atomic_compare_exchange_n(&map->slots_ready, &ready, ready + more, false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
            ready += more;
    }
    return true;
}

static bool take_new(struct sfb_live_thread *t)
{
    struct sfb_live *map = sfb_live_table.map;
    uint32_t first = __atomic_load_n(&map->slots_used, __ATOMIC_RELAXED), end;

    do {
        end = first + SFB_LIVE_BATCH;
        if (end > map->slot_room || !have_memory(end))
            return false;
    } while (!__atomic_compare_exchange_n(&map->slots_used, &first, end, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    for (uint32_t i = first; i < end; i++)
        sfb_live_table.slots[i].block = (uint64_t)(i + 1 < end ? i + 1 : 0) << 1 | 1;
    t->head = first;
    t->count = SFB_LIVE_BATCH;
    return true;
}

/* --- the bound ------------------------------------------------------------------------------------ */

/* How full it is says how much is sampled: an eighth of the slots is for samples. */
static uint32_t level_now(void)
{
    const struct sfb_live *map = sfb_live_table.map;
    const uint64_t used = __atomic_load_n(&map->slots_used, __ATOMIC_RELAXED),
                   given_back = __atomic_load_n(&map->slots_free, __ATOMIC_RELAXED),
                   room = map->slot_room, live = used > given_back ? used - given_back : 0;

    if (live < room - room / 8)
        return 0;
    if (live < room - room / 16)
        return 1;
    return live < room - room / 32 ? 2 : 3;
}

static void look_at_level(struct sfb_live_thread *t)
{
    struct sfb_live *map = sfb_live_table.map;
    const uint32_t level = level_now();

    if (t->unsampled > 0)
        __atomic_fetch_add(&map->counts.unsampled, t->unsampled, __ATOMIC_RELAXED);
    t->unsampled = 0;
    if (level != t->level)
        t->until = -1; /* drawn anew: what is left of an old gap is as long as a new one */
    t->level = level;
    if (map->level != level)
        map->level = level;
    if (map->level_most < level)
        map->level_most = level;
}

bool sfb_live_table_refill(struct sfb_live_thread *t)
{
    look_at_level(t);
    if (t->spare) {
        t->head = t->spare;
        t->count = SFB_LIVE_BATCH;
        t->spare = 0;
        return true;
    }
    t->count = 0;
    return pop(t) || take_new(t);
}

void sfb_live_table_spill(struct sfb_live_thread *t)
{
    look_at_level(t);
    if (t->spare || t->ended)
        push(t->head, t->count);
    else
        t->spare = t->head;
    t->head = t->count = 0;
}

void sfb_live_table_give_back(struct sfb_live_thread *t)
{
    look_at_level(t);
    if (t->head)
        push(t->head, t->count);
    if (t->spare)
        push(t->spare, SFB_LIVE_BATCH);
    t->head = t->spare = t->count = 0;
}
