#include "record/live/lists.h"

#include <string.h>

#include "record/clocks.h"
#include "record/live/map.h"
#include "record/live/table.h"
#include "sframe_backtrace.h"

#define EVERY_NS ((uint64_t)100000000)
#define SOON_NS  ((uint64_t)20000000)
#define SHARE    1000

#define EXPECT_NS ((uint64_t)1000000000)

enum { EMPTY = 16 }; /* bytes of a map without images, at most */

static uint64_t last_hash, next_look, expect_until;

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3U;
    return hash;
}

static struct sfb_live_list *list_at(uint32_t number)
{
    return &sfb_live_table.map->lists[number % SFB_LIVE_LISTS];
}

static uint64_t offset_of(const struct sfb_live_list *list)
{
    return list->place >> 24;
}

/* The list that holds goes behind those before, for good. Stacks are still written with its number, until it changes. */
static void keep(struct sfb_live *map, uint32_t half)
{
    struct sfb_live_list *list = list_at(map->list);
    const uint64_t size = list->place & 0xffffff, at = 2 * (uint64_t)half + map->lists_used;

    if (size > map->lists_size - at || !sfb_live_map_populate(map, map->lists_at + at, size)) {
        map->counts.no_list++;
        list->place = 0;
        return;
    }
    memcpy(sfb_live_table.lists + at, sfb_live_table.lists + offset_of(list), size);
    map->lists_used += (uint32_t)size;
    __atomic_store_n(&list->place, at << 24 | size, __ATOMIC_RELEASE);
}

/* With the lock held. */
static void write_list(bool unloaded)
{
    struct sfb_live *map = sfb_live_table.map;
    const uint32_t half = map->lists_size / 4 / SFB_LIVE_PAGE * SFB_LIVE_PAGE;
    const uint64_t now = sfb_now();
    struct sfb_live_list *list = list_at(map->list);
    const uint64_t at = last_hash != 0 && offset_of(list) == 0 ? half : 0;
    uint8_t *out = sfb_live_table.lists + at;
    uint32_t left_out = 0;
    uint64_t hash;
    ssize_t size;

    if (!sfb_live_map_populate(map, map->lists_at + at, half)) {
        map->counts.no_list++;
        return;
    }
    size = sframe_backtrace_image_map(out, half, &left_out);
    if (size <=
        EMPTY) { /* before the library's own constructor nothing is known: the next stack asks again */
        __atomic_store_n(&next_look, 0, __ATOMIC_RELAXED);
        return;
    }
    hash = hash_of(out, (size_t)size);
    if (hash == last_hash)
        return;
    if (left_out > 0)
        map->counts.no_list++;
    if (unloaded && last_hash != 0) {
        keep(map, half);
        list = list_at(map->list + 1);
        list->time = now;
        __atomic_store_n(&list->place, at << 24 | (uint64_t)size, __ATOMIC_RELEASE);
        __atomic_store_n(&map->list, map->list + 1, __ATOMIC_RELEASE);
    } else {
        if (last_hash == 0)
            list->time = map->monotonic;
        __atomic_store_n(&list->place, at << 24 | (uint64_t)size, __ATOMIC_RELEASE);
    }
    last_hash = hash;
}

void sfb_live_lists_begin(void)
{
    last_hash = 0;
    next_look = sfb_now() + EVERY_NS; /* unless the list is empty yet */
    sfb_live_table.map->list_lock = 0;
    sfb_live_lists_renew(false);
}

void sfb_live_lists_renew(bool unloaded)
{
    struct sfb_live *map = sfb_live_table.map;
    uint32_t expected = 0;

    if (!__atomic_compare_exchange_n(&map->list_lock, &expected, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
        __atomic_store_n(&next_look, 0, __ATOMIC_RELAXED);
        return;
    }
    write_list(unloaded);
    __atomic_store_n(&map->list_lock, 0, __ATOMIC_RELEASE);
}

void sfb_live_lists_expect(void)
{
    __atomic_store_n(&expect_until, sfb_now() + EXPECT_NS, __ATOMIC_RELAXED);
    __atomic_store_n(&next_look, 0, __ATOMIC_RELAXED);
}

void sfb_live_lists_look(void)
{
    const uint64_t now = sfb_now();
    uint64_t next = __atomic_load_n(&next_look, __ATOMIC_RELAXED), cost;

    const uint64_t wait =
        now < __atomic_load_n(&expect_until, __ATOMIC_RELAXED) ? SOON_NS : EVERY_NS;

    if (now < next || !__atomic_compare_exchange_n(&next_look, &next, now + wait, false,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    sfb_live_lists_renew(false);
    if (__atomic_load_n(&next_look, __ATOMIC_RELAXED) == 0)
        return;
    cost = (sfb_now() - now) * SHARE;
    if (cost > EVERY_NS)
        __atomic_store_n(&next_look, now + cost, __ATOMIC_RELAXED);
}
