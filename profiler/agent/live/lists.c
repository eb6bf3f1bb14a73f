#include "profiler/agent/live/lists.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/live/map.h"
#include "profiler/agent/live/table.h"
#include "sframe_backtrace.h"
#include "util/fnv.h"

#define EVERY_NS ((uint64_t)100000000)
#define SOON_NS  ((uint64_t)20000000)
#define SHARE    1000

#define EXPECT_NS ((uint64_t)1000000000)

enum { EMPTY = 16 }; /* largest size in bytes of a map without images */

/* A library was unloaded, and the list was not renewed since. */
static bool unloaded_since;

static uint64_t next_look, expect_until;

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    const uint64_t hash = sfb_fnv(SFB_FNV_START, bytes, size);

    return hash ? hash : 1;
}

static struct sfb_live_list *list_at(struct sfb_live *map, uint32_t number)
{
    return &map->lists[number % SFB_LIVE_LISTS];
}

static uint64_t offset_of(const struct sfb_live_list *list)
{
    return list->place >> 24;
}

static void look_soon(void)
{
    __atomic_store_n(&next_look, 0, __ATOMIC_RELAXED);
}

/* --- the lock ------------------------------------------------------------------------------------- */

/* The lock holds its owner's thread id. If a handler interrupted that thread, the lists cannot change until it returns. */
static uint32_t own_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/* @return 0: locked now; else the owner's thread id */
static uint32_t try_lock(struct sfb_live *map)
{
    uint32_t owner = 0;

    return __atomic_compare_exchange_n(&map->list_lock, &owner, own_id(), false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED)
               ? 0
               : owner;
}

static void unlock(struct sfb_live *map)
{
    __atomic_store_n(&map->list_lock, 0, __ATOMIC_RELEASE);
}

/* --- with the lock held --------------------------------------------------------------------------- */

/* Atomic: a dump may copy the header without the lock. */
#define SET(member, value) __atomic_store_n(&(member), (value), __ATOMIC_RELAXED)

static void no_list(struct sfb_live *map)
{
    sfb_live_count_up(&map->counts.no_list, 1);
}

/* Moves the current list behind the kept ones, for good. Stacks are written with its number until the number changes. */
static void keep(const struct sfb_live_table *t, uint32_t half)
{
    struct sfb_live *map = t->map;
    struct sfb_live_list *list = list_at(map, map->list);
    const uint64_t size = list->place & 0xffffff, at = 2 * (uint64_t)half + map->lists_used;

    if (size > map->lists_size - at || !sfb_live_map_populate(map, map->lists_at + at, size)) {
        no_list(map);
        SET(list->place, 0);
        return;
    }
    memcpy(t->lists + at, t->lists + offset_of(list), size);
    SET(map->lists_used, map->lists_used + (uint32_t)size);
    __atomic_store_n(&list->place, at << 24 | size, __ATOMIC_RELEASE);
}

/* @param half  number of the place */
static bool have_memory(struct sfb_live *map, uint32_t half, uint32_t half_size, uint32_t size)
{
    uint32_t *ready = &map->lists_ready[half];

    if (*ready < size) {
        if (!sfb_live_map_populate(map, map->lists_at + (uint64_t)half * half_size, size))
            return false;
        SET(*ready, size);
    }
    return true;
}

/* Most programs have few modules: the place gets as much memory as the list needs. @return its size; 0: no memory */
static ssize_t write_map(const struct sfb_live_table *t, uint32_t half, uint32_t half_size,
                         uint32_t *left_out)
{
    enum { FIRST = 16 << 10 };
    uint32_t size = half_size < FIRST ? half_size : FIRST;

    for (;; size = size < half_size / 2 ? 2 * size : half_size) {
        ssize_t written;

        *left_out = 0;
        if (!have_memory(t->map, half, half_size, size))
            return 0;
        written = sframe_backtrace_image_map(t->lists + (size_t)half * half_size, size, left_out);
        if (*left_out == 0 || size == half_size)
            return written;
    }
}

static void write_list(const struct sfb_live_table *t)
{
    struct sfb_live *map = t->map;
    const bool first = map->list_hash == 0;
    const uint32_t half = map->lists_size / 4 / SFB_LIVE_PAGE * SFB_LIVE_PAGE;
    const uint64_t now = sfb_now();
    struct sfb_live_list *list = list_at(map, map->list);
    const uint64_t at = !first && offset_of(list) == 0 ? half : 0;
    const uint8_t *out = t->lists + at;
    uint32_t left_out = 0;
    uint64_t hash;
    ssize_t size;

    size = write_map(t, at == 0 ? 0 : 1, half, &left_out);
    if (size == 0) {
        no_list(map);
        return;
    }
    if (size <=
        EMPTY) { /* before the library's own constructor no image is known: the next stack looks again */
        look_soon();
        return;
    }
    hash = hash_of(out, (size_t)size);
    if (hash == map->list_hash)
        return;
    if (left_out > 0)
        no_list(map);
    if (__atomic_exchange_n(&unloaded_since, false, __ATOMIC_RELAXED) && !first) {
        keep(t, half);
        list = list_at(map, map->list + 1);
        SET(list->time, now);
        __atomic_store_n(&list->place, at << 24 | (uint64_t)size, __ATOMIC_RELEASE);
        __atomic_store_n(&map->list, map->list + 1, __ATOMIC_RELEASE);
    } else {
        if (first)
            SET(list->time, map->monotonic);
        __atomic_store_n(&list->place, at << 24 | (uint64_t)size, __ATOMIC_RELEASE);
    }
    SET(map->list_hash, hash);
}

/* --- interface ------------------------------------------------------------------------------------ */

static void renew(const struct sfb_live_table *t)
{
    if (try_lock(t->map) != 0) {
        look_soon();
        return;
    }
    write_list(t);
    unlock(t->map);
}

void sfb_live_lists_begin(void)
{
    __atomic_store_n(&unloaded_since, false, __ATOMIC_RELAXED);
    __atomic_store_n(&next_look, sfb_now() + EVERY_NS, __ATOMIC_RELAXED); /* unless it is empty */
    renew(&sfb_live_table);
}

void sfb_live_lists_renew(bool unloaded)
{
    struct sfb_live_table table;

    if (unloaded)
        __atomic_store_n(&unloaded_since, true, __ATOMIC_RELAXED);
    if (sfb_live_table_now(&table) != 0)
        renew(&table);
}

static void copy_lists(const struct sfb_live_table *t, const struct sfb_live *head, uint8_t *out)
{
    for (uint32_t i = 0; i < SFB_LIVE_LISTS; i++) {
        const uint64_t at = head->lists[i].place >> 24, size = head->lists[i].place & 0xffffff;

        if (at <= head->lists_size && size <= head->lists_size - at)
            memcpy(out + at, t->lists + at, size);
    }
}

bool sfb_live_lists_copy(const struct sfb_live_table *t, struct sfb_live *head, uint8_t *lists)
{
    enum { PAUSE_NS = 1000000, PAUSES = 1000 };
    const struct timespec moment = { .tv_nsec = PAUSE_NS };
    uint32_t owner = try_lock(t->map);

    for (int i = 0; owner != 0 && owner != own_id(); i++) {
        if (i == PAUSES)
            return false;
        syscall(SYS_nanosleep, &moment, NULL); /* nanosleep() is a cancellation point */
        owner = try_lock(t->map);
    }
    sfb_live_table_head(t, head);
    copy_lists(t, head, lists);
    if (owner == 0)
        unlock(t->map);
    return true;
}

void sfb_live_lists_expect(void)
{
    __atomic_store_n(&expect_until, sfb_now() + EXPECT_NS, __ATOMIC_RELAXED);
    look_soon();
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
