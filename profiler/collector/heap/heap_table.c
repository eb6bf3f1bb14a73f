#include "profiler/collector/heap/heap_table.h"

#include <stdlib.h>

/*
 * A part grows by a quarter once it is three quarters full, so it is at least 60 % full. A dense table also takes less of
 * the cache that the recorder shares with the program.
 */
enum { ROOM_MIN = 8 };

/* The upper byte chooses the part; the bits below it choose the place within it. */
static uint64_t hash_of(uint64_t pointer)
{
    return pointer * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t home_of(uint64_t hash, uint32_t room)
{
    return (uint32_t)((uint64_t)(uint32_t)(hash >> 24) * room >> 32);
}

static uint32_t behind(uint32_t place, uint32_t room)
{
    return place + 1 < room ? place + 1 : 0;
}

/* @return steps from one place to another */
static uint32_t steps(uint32_t from, uint32_t to, uint32_t room)
{
    return to >= from ? to - from : to + room - from;
}

struct sfb_heap_block *sfb_heap_table_find(const struct sfb_heap_table *t, uint64_t pointer)
{
    const uint64_t hash = hash_of(pointer);
    struct sfb_heap_block *at = t->parts[hash >> 56].at;
    const uint32_t room = t->parts[hash >> 56].room;

    if (room == 0)
        return NULL;
    for (uint32_t i = home_of(hash, room); at[i].pointer != 0; i = behind(i, room))
        if (at[i].pointer == pointer)
            return &at[i];
    return NULL;
}

void sfb_heap_table_prefetch(const struct sfb_heap_table *t, uint64_t pointer)
{
    const uint64_t hash = hash_of(pointer);
    const struct sfb_heap_block *at = t->parts[hash >> 56].at;
    const uint32_t room = t->parts[hash >> 56].room;

    if (room > 0)
        __builtin_prefetch(&at[home_of(hash, room)], 1);
}

static void put(struct sfb_heap_block *at, uint32_t room, const struct sfb_heap_block *block)
{
    uint32_t i = home_of(hash_of(block->pointer), room);

    while (at[i].pointer != 0)
        i = behind(i, room);
    at[i] = *block;
}

static bool grow(struct sfb_heap_table *t, unsigned part)
{
    const uint32_t before = t->parts[part].room;
    const uint32_t room = before > 0 ? before + before / 4 : ROOM_MIN;
    struct sfb_heap_block *at = room > before ? calloc(room, sizeof *at) : NULL;

    if (!at)
        return false;
    for (uint32_t i = 0; i < before; i++)
        if (t->parts[part].at[i].pointer != 0)
            put(at, room, &t->parts[part].at[i]);
    free(t->parts[part].at);
    t->parts[part].at = at;
    t->parts[part].room = room;
    return true;
}

bool sfb_heap_table_add(struct sfb_heap_table *t, const struct sfb_heap_block *block)
{
    const unsigned part = (unsigned)(hash_of(block->pointer) >> 56);

    if ((uint64_t)4 * (t->parts[part].count + 1) > (uint64_t)3 * t->parts[part].room &&
        !grow(t, part))
        return false;
    put(t->parts[part].at, t->parts[part].room, block);
    t->parts[part].count++;
    t->count++;
    return true;
}

/* Moves up later entries that come nearer to their home places: a search ends at the first empty place. */
void sfb_heap_table_remove(struct sfb_heap_table *t, struct sfb_heap_block *block)
{
    const unsigned part = (unsigned)(hash_of(block->pointer) >> 56);
    struct sfb_heap_block *at = t->parts[part].at;
    const uint32_t room = t->parts[part].room;
    uint32_t hole = (uint32_t)(block - at);

    for (uint32_t i = behind(hole, room); at[i].pointer != 0; i = behind(i, room)) {
        const uint32_t home = home_of(hash_of(at[i].pointer), room);

        if (steps(home, i, room) >= steps(hole, i, room)) {
            at[hole] = at[i];
            hole = i;
        }
    }
    at[hole].pointer = 0;
    t->parts[part].count--;
    t->count--;
}

void sfb_heap_table_free(struct sfb_heap_table *t)
{
    for (unsigned i = 0; i < SFB_HEAP_PARTS; i++)
        free(t->parts[i].at);
    *t = (struct sfb_heap_table){ 0 };
}
