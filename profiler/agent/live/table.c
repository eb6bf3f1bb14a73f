#include "profiler/agent/live/table.h"

#include "profiler/agent/live/map.h"

static struct sfb_live_here nowhere;

struct sfb_live_table sfb_live_table;
struct sfb_live_here *sfb_live_here = &nowhere;

/* --- the table of this process -------------------------------------------------------------------- */

/* Buckets get memory a 64th at a time, at least a page: a process with few stacks touches few of them. */
static uint32_t buckets_shift(uint32_t buckets)
{
    const uint32_t page = SFB_LIVE_PAGE / sizeof(uint64_t), part = buckets / 64;

    return (uint32_t)__builtin_ctz(part > page ? part : page);
}

#define PUBLISH(member, value) __atomic_store_n(&sfb_live_table.member, (value), __ATOMIC_RELEASE)
#define ACQUIRE(member)        __atomic_load_n(&sfb_live_table.member, __ATOMIC_ACQUIRE)

/* PUBLISH releases: a reader that sees a new member also sees that the old epoch has ended. */
void sfb_live_table_use(struct sfb_live *map, bool fences)
{
    uint8_t *at = (uint8_t *)map;

    map->slots_used = 1; /* slot 0 means: no slot */
    map->stacks.used = map->pieces.used = 1;
    PUBLISH(map, map);
    PUBLISH(slots, (void *)(at + map->slots_at));
    PUBLISH(buckets, (void *)(at + map->buckets_at));
    PUBLISH(bucket_mask, map->bucket_count - 1);
    PUBLISH(stacks, (void *)(at + map->stacks_at));
    PUBLISH(pieces, (void *)(at + map->pieces_at));
    PUBLISH(marks, (void *)(at + map->marks_at));
    PUBLISH(beside, (void *)(at + map->beside_at));
    PUBLISH(beside_mask, map->beside_count - 1);
    PUBLISH(lists, at + map->lists_at);
    PUBLISH(freed, (void *)(at + map->freed_at));
    PUBLISH(freed_room, map->freed_room);
    PUBLISH(slot_room, map->slot_room);
    PUBLISH(stack_room, map->stack_room);
    PUBLISH(piece_room, map->piece_room);
    PUBLISH(buckets_shift, buckets_shift(map->bucket_count));
    PUBLISH(fences, fences);
}

uint32_t sfb_live_table_now(struct sfb_live_table *out)
{
    enum { TRIES = 8 }; /* a table replaced more often than this counts as missing */

    for (int i = 0; i < TRIES; i++) {
        const uint32_t epoch = sfb_live_epoch();
        const struct sfb_live_table copy = {
            .map = ACQUIRE(map),
            .slots = ACQUIRE(slots),
            .buckets = ACQUIRE(buckets),
            .bucket_mask = ACQUIRE(bucket_mask),
            .stacks = ACQUIRE(stacks),
            .pieces = ACQUIRE(pieces),
            .marks = ACQUIRE(marks),
            .beside = ACQUIRE(beside),
            .beside_mask = ACQUIRE(beside_mask),
            .lists = ACQUIRE(lists),
            .freed = ACQUIRE(freed),
            .freed_room = ACQUIRE(freed_room),
            .slot_room = ACQUIRE(slot_room),
            .stack_room = ACQUIRE(stack_room),
            .piece_room = ACQUIRE(piece_room),
            .buckets_shift = ACQUIRE(buckets_shift),
            .fences = ACQUIRE(fences),
        };

        if (epoch == 0)
            return 0;
        if (sfb_live_epoch() != epoch)
            continue;
        *out = copy;
        return epoch;
    }
    return 0;
}

void sfb_live_table_head(const struct sfb_live_table *table, struct sfb_live *out)
{
    const uint64_t *from = (const uint64_t *)(const void *)table->map;
    uint64_t *to = (uint64_t *)(void *)out;

    _Static_assert(sizeof *out % sizeof *from == 0, "whole words");
    for (size_t i = 0; i < sizeof *out / sizeof *from; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

/* --- shared lists --------------------------------------------------------------------------------- */

/*
 * A stack of lists. The `what` of each list's first slot leads to the next list. The count of changes guards a pop
 * against the ABA problem.
 */
static void push(const struct sfb_live_table *table, uint32_t first, uint32_t count)
{
    struct sfb_live *map = table->map;
    uint64_t head = __atomic_load_n(&map->free_batches, __ATOMIC_RELAXED), next;

    do {
        /* A concurrent pop may read this too; its exchange then fails. */
        __atomic_store_n(&table->slots[first].what, (uint32_t)head | (uint64_t)count << 32,
                         __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 | first;
    } while (!__atomic_compare_exchange_n(&map->free_batches, &head, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    __atomic_fetch_add(&map->slots_free, count, __ATOMIC_RELAXED);
}

static bool pop(struct sfb_live_thread *t)
{
    struct sfb_live *map = t->table.map;
    uint64_t head = __atomic_load_n(&map->free_batches, __ATOMIC_ACQUIRE), next, what;
    uint32_t first;

    do {
        first = (uint32_t)head;
        if (first == 0 || first >= map->slot_room)
            return false;
        what = __atomic_load_n(&t->table.slots[first].what, __ATOMIC_RELAXED);
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

/* --- slots never used ----------------------------------------------------------------------------- */

/*
 * Populates a seventh more than is in use: on a full file system that is the eighth for samples.
 *
 * @param end  behind the last slot that is needed
 * @return false: no memory
 */
static bool have_memory(struct sfb_live *map, uint32_t end)
{
    const struct sfb_live_part part = { map->slots_at, sizeof(struct sfb_live_slot),
                                        map->slot_room };
    const uint32_t more = end / 7 < part.room - end ? end / 7 : part.room - end;
    const bool good = sfb_live_map_grow(map, &part, &map->slots_ready, end + more);
    const uint32_t ready = __atomic_load_n(&map->slots_ready, __ATOMIC_RELAXED),
                   bound = good ? 0 : ready;

    if (__atomic_load_n(&map->slots_bound, __ATOMIC_RELAXED) != bound)
        __atomic_store_n(&map->slots_bound, bound, __ATOMIC_RELAXED);
    return end <= ready;
}

static bool take_new(struct sfb_live_thread *t)
{
    struct sfb_live *map = t->table.map;
    uint32_t first = __atomic_load_n(&map->slots_used, __ATOMIC_RELAXED), end;

    do {
        end = first + SFB_LIVE_BATCH;
        if (end > map->slot_room || !have_memory(map, end))
            return false;
    } while (!__atomic_compare_exchange_n(&map->slots_used, &first, end, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    for (uint32_t i = first; i < end; i++)
        __atomic_store_n(&t->table.slots[i].block, (uint64_t)(i + 1 < end ? i + 1 : 0) << 1 | 1,
                         __ATOMIC_RELAXED); /* atomic: a dump may read it */
    t->head = first;
    t->count = SFB_LIVE_BATCH;
    return true;
}

/* --- the sampling level --------------------------------------------------------------------------- */

/* The fill level sets the sampling level. The last eighth of the slots is for samples. */
static uint32_t level_now(const struct sfb_live *map)
{
    const uint64_t used = __atomic_load_n(&map->slots_used, __ATOMIC_RELAXED),
                   given_back = __atomic_load_n(&map->slots_free, __ATOMIC_RELAXED),
                   bound = __atomic_load_n(&map->slots_bound, __ATOMIC_RELAXED),
                   room = bound ? bound : map->slot_room,
                   live = used > given_back ? used - given_back : 0;

    if (live < room - room / 8)
        return 0;
    if (live < room - room / 16)
        return 1;
    return live < room - room / 32 ? 2 : 3;
}

static void look_at_level(struct sfb_live_thread *t)
{
    struct sfb_live *map = t->table.map;
    const uint32_t level = level_now(map);
    uint32_t most = __atomic_load_n(&map->level_most, __ATOMIC_RELAXED);

    if (t->unsampled > 0)
        sfb_live_count_up(&map->counts.unsampled, t->unsampled);
    t->unsampled = 0;
    if (level != t->level)
        t->until = -1; /* draw anew: the rest of a gap is distributed like a new one */
    t->level = level;
    if (__atomic_load_n(&map->level, __ATOMIC_RELAXED) != level)
        __atomic_store_n(&map->level, level, __ATOMIC_RELAXED);
    while (most < level && !__atomic_compare_exchange_n(&map->level_most, &most, level, false,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
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
        push(&t->table, t->head, t->count);
    else
        t->spare = t->head;
    t->head = t->count = 0;
}

void sfb_live_table_give_back(struct sfb_live_thread *t)
{
    look_at_level(t);
    if (t->head)
        push(&t->table, t->head, t->count);
    if (t->spare)
        push(&t->table, t->spare, SFB_LIVE_BATCH);
    t->head = t->spare = t->count = 0;
}
