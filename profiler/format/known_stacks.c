#include "profiler/format/known_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

enum {
    FIRST_ROOM = 256,
    STEPS_MAX = 64 /* bounds a search among stacks that a program makes collide */
};

struct entry {
    uint32_t hash; /* valid if id is not 0 */
    uint32_t id;
    uint32_t at, size; /* in `bytes` */
};

struct sfb_known_process {
    uint32_t process;
    struct entry *entries;
    size_t count, room; /* room is a power of two, at least 2 * count */
    uint8_t *bytes;
    size_t used, bytes_room;
};

static uint32_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = size * 0x9e3779b97f4a7c15u;

    while (size > 0) {
        const size_t n = size < 8 ? size : 8;
        uint64_t word = 0;

        memcpy(&word, bytes, n);
        hash = (hash ^ word) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
        bytes += n;
        size -= n;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static struct sfb_known_process *find_process(struct sfb_known_stacks *known, uint32_t process)
{
    for (size_t i = 0; i < known->count; i++) {
        struct sfb_known_process *p = known->processes[i];

        if (p->process == process) {
            known->processes[i] = known->processes[0]; /* likely the next one, too */
            known->processes[0] = p;
            return p;
        }
    }
    return NULL;
}

static bool is_stack(const struct sfb_known_process *p, const struct entry *e, uint32_t hash,
                     const void *cbf, size_t size)
{
    return e->hash == hash && e->size == size && memcmp(p->bytes + e->at, cbf, size) == 0;
}

uint32_t sfb_known_stacks_find(struct sfb_known_stacks *known, uint32_t process, const void *cbf,
                               size_t size)
{
    const struct sfb_known_process *p = find_process(known, process);
    const uint32_t hash = hash_of(cbf, size);

    for (size_t i = 0; p != NULL && p->room > 0 && i < STEPS_MAX; i++) {
        const struct entry *e = &p->entries[(hash + i) & (p->room - 1)];

        if (e->id == 0)
            break;
        if (is_stack(p, e, hash, cbf, size))
            return e->id;
    }
    return 0;
}

/* @return whether a place was free within STEPS_MAX steps */
static bool insert(struct entry *entries, size_t room, struct entry new)
{
    for (size_t i = 0; i < STEPS_MAX; i++) {
        struct entry *e = &entries[(new.hash + i) & (room - 1)];

        if (e->id == 0) {
            *e = new;
            return true;
        }
    }
    return false;
}

static void empty(struct sfb_known_stacks *known, struct sfb_known_process *p)
{
    known->bytes -= p->room * sizeof *p->entries + p->bytes_room;
    free(p->entries);
    free(p->bytes);
    p->entries = NULL;
    p->bytes = NULL;
    p->count = p->room = p->used = p->bytes_room = 0;
}

static bool grow_entries(struct sfb_known_stacks *known, struct sfb_known_process *p)
{
    const size_t room = p->room > 0 ? 2 * p->room : FIRST_ROOM;
    const size_t more = (room - p->room) * sizeof *p->entries;
    struct entry *grown;

    if (known->bytes + more > SFB_KNOWN_BYTES_MAX || (grown = calloc(room, sizeof *grown)) == NULL)
        return false;
    for (size_t i = 0; i < p->room; i++)
        if (p->entries[i].id != 0)
            insert(grown, room, p->entries[i]);
    free(p->entries);
    p->entries = grown;
    p->room = room;
    known->bytes += more;
    return true;
}

static bool grow_bytes(struct sfb_known_stacks *known, struct sfb_known_process *p, size_t wanted)
{
    size_t room = p->bytes_room > 0 ? p->bytes_room : 4096;
    uint8_t *grown;

    while (room < wanted)
        room *= 2;
    if (known->bytes + (room - p->bytes_room) > SFB_KNOWN_BYTES_MAX ||
        (grown = realloc(p->bytes, room)) == NULL)
        return false;
    known->bytes += room - p->bytes_room;
    p->bytes = grown;
    p->bytes_room = room;
    return true;
}

static bool make_room(struct sfb_known_stacks *known, struct sfb_known_process *p, size_t size)
{
    return (2 * (p->count + 1) <= p->room || grow_entries(known, p)) &&
           (p->used + size <= p->bytes_room || grow_bytes(known, p, p->used + size));
}

static struct sfb_known_process *add_process(struct sfb_known_stacks *known, uint32_t process)
{
    struct sfb_known_process *p;

    if (!array_make_room(&known->processes, known->count, &known->room, sizeof(void *)))
        return NULL;
    p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->process = process;
        known->processes[known->count++] = p;
    }
    return p;
}

void sfb_known_stacks_add(struct sfb_known_stacks *known, uint32_t process, const void *cbf,
                          size_t size, uint32_t id)
{
    struct sfb_known_process *p = find_process(known, process);

    if (size == 0 || size > SFB_KNOWN_BYTES_MAX / 4 ||
        (p == NULL && (p = add_process(known, process)) == NULL))
        return;
    if (!make_room(known, p, size)) {
        empty(known, p);
        if (!make_room(known, p, size))
            return;
    }
    if (insert(p->entries, p->room,
               (struct entry){ hash_of(cbf, size), id, (uint32_t)p->used, (uint32_t)size })) {
        memcpy(p->bytes + p->used, cbf, size);
        p->used += size;
        p->count++;
    }
}

void sfb_known_stacks_forget(struct sfb_known_stacks *known, uint32_t process)
{
    struct sfb_known_process *p = find_process(known, process);

    if (p == NULL)
        return;
    empty(known, p);
    known->processes[0] = known->processes[--known->count]; /* find_process() moved it there */
    free(p);
}

void sfb_known_stacks_free(struct sfb_known_stacks *known)
{
    while (known->count > 0)
        sfb_known_stacks_forget(known, known->processes[0]->process);
    free(known->processes);
    *known = (struct sfb_known_stacks){ 0 };
}
