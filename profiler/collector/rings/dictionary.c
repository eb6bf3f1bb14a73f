#include "profiler/collector/rings/dictionary.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 1024, ROOM_MAX = 8 * SFB_SHARED_KNOWN, ROOM_MAX_HEAP = 1 << 22 };

/* The place of a hash, or the empty place for it: one place is always empty. */
static size_t place_of(const struct sfb_recorder_dictionary *d, uint64_t hash)
{
    size_t at = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (d->room - 1);

    while (d->entries[at].hash != 0 && d->entries[at].hash != hash)
        at = (at + 1) & (d->room - 1);
    return at;
}

uint32_t sfb_recorder_dictionary_find(const struct sfb_recorder_dictionary *d, uint64_t hash)
{
    size_t at;

    if (d->room == 0 || hash == 0)
        return 0;
    at = place_of(d, hash);
    return d->entries[at].hash == hash ? d->entries[at].id : 0;
}

static bool allocate(struct sfb_recorder_dictionary *d, size_t room)
{
    *d = (struct sfb_recorder_dictionary){ .room = room };
    d->entries = calloc(room, sizeof *d->entries);
    return d->entries != NULL;
}

static void put(struct sfb_recorder_dictionary *d, uint64_t hash, uint32_t id)
{
    size_t at = place_of(d, hash);

    d->count += d->entries[at].hash == 0;
    d->entries[at].hash = hash;
    d->entries[at].id = id;
}

static bool grow(struct sfb_recorder_dictionary *d)
{
    struct sfb_recorder_dictionary larger;

    if (!allocate(&larger, d->room == 0 ? ROOM_MIN : 2 * d->room))
        return false;
    for (size_t i = 0; i < d->room; i++)
        if (d->entries[i].hash != 0)
            put(&larger, d->entries[i].hash, d->entries[i].id);
    sfb_recorder_dictionary_free(d);
    *d = larger;
    return true;
}

/* Keeps at most SFB_SHARED_KNOWN hashes: the program may have written anything into the agents' table. */
static bool forget(struct sfb_recorder_dictionary *d, const uint64_t *known)
{
    struct sfb_recorder_dictionary rest;

    if (!allocate(&rest, d->room))
        return false;
    for (size_t i = 0; i < SFB_SHARED_KNOWN; i++) {
        uint64_t hash = __atomic_load_n(&known[i], __ATOMIC_RELAXED);
        uint32_t id = sfb_recorder_dictionary_find(d, hash);

        if (id != 0)
            put(&rest, hash, id);
    }
    sfb_recorder_dictionary_free(d);
    *d = rest;
    return true;
}

bool sfb_recorder_dictionary_add(struct sfb_recorder_dictionary *d, uint64_t hash, uint32_t id,
                                 const uint64_t *known)
{
    const size_t most = known ? ROOM_MAX : ROOM_MAX_HEAP;

    if (2 * (d->count + 1) > d->room) {
        if (d->room >= most && !known)
            return true;
        if (!(d->room < most ? grow(d) : forget(d, known)))
            return false;
    }
    put(d, hash, id);
    return true;
}

void sfb_recorder_dictionary_free(struct sfb_recorder_dictionary *d)
{
    free(d->entries);
    *d = (struct sfb_recorder_dictionary){ 0 };
}
