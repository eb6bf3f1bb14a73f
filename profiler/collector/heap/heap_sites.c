#include "profiler/collector/heap/heap_sites.h"

#include <stdlib.h>

#include "util/grow.h"

enum { ROOM_MIN = 256, CHUNK = 64 };

static bool is_same(const struct sfb_heap_site_key *a, const struct sfb_heap_site_key *b)
{
    return a->hash == b->hash && a->thread == b->thread && a->kind == b->kind;
}

static size_t place_of(const struct sfb_heap_sites *s, const struct sfb_heap_site_key *key)
{
    const uint64_t hash =
        (key->hash ^ (uint64_t)(2 * key->thread + key->kind) * UINT64_C(0xd6e8feb86659fd93)) *
        UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (s->room - 1);

    while (s->places[at].site != 0 && !is_same(&s->places[at].key, key))
        at = (at + 1) & (s->room - 1);
    return at;
}

uint32_t sfb_heap_sites_find(const struct sfb_heap_sites *s, const struct sfb_heap_site_key *key)
{
    return s->room == 0 ? 0 : s->places[place_of(s, key)].site;
}

static bool grow(struct sfb_heap_sites *s)
{
    struct sfb_heap_sites larger = { .room = s->room > 0 ? 2 * s->room : ROOM_MIN };

    if (2 * (s->count + 1) <= s->room)
        return true;
    larger.places = calloc(larger.room, sizeof *larger.places);
    if (!larger.places)
        return false;
    for (size_t i = 0; i < s->room; i++)
        if (s->places[i].site != 0)
            larger.places[place_of(&larger, &s->places[i].key)] = s->places[i];
    free(s->places);
    s->places = larger.places;
    s->room = larger.room;
    return true;
}

static bool make_room(struct sfb_heap_sites *s)
{
    if (s->count < s->chunk_count * CHUNK)
        return true;
    if (!array_make_room(&s->chunks, s->chunk_count, &s->chunk_room, sizeof *s->chunks))
        return false;
    s->chunks[s->chunk_count] = calloc(CHUNK, sizeof **s->chunks);
    if (!s->chunks[s->chunk_count])
        return false;
    s->chunk_count++;
    return true;
}

uint32_t sfb_heap_sites_add(struct sfb_heap_sites *s, const struct sfb_heap_site_key *key)
{
    const size_t most = SFB_HEAP_SITES_MAX + (key->hash == 0 ? SFB_HEAP_SITES_BARE : 0);
    size_t at;

    if (s->count >= most || !grow(s) || !make_room(s))
        return 0;
    at = place_of(s, key);
    s->places[at].key = *key;
    s->places[at].site = (uint32_t)++s->count;
    return s->places[at].site;
}

void sfb_heap_sites_free(struct sfb_heap_sites *s)
{
    for (size_t i = 0; i < s->chunk_count; i++)
        free(s->chunks[i]);
    free(s->chunks);
    free(s->places);
    *s = (struct sfb_heap_sites){ 0 };
}
