#include "util/strings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct report_string_slot {
    uint64_t hash;
    uint32_t number; /* + 1; 0: free */
};

enum { FIRST = 256 };

/*
 * Names come from files: without a key a forged file could hold many texts of one hash, which cost
 * time.
 */
static uint64_t random_key(void)
{
    const void *bytes = (const void *)getauxval(AT_RANDOM); /* NOLINT: an address in a long */
    uint64_t key = 0;

    if (bytes)
        memcpy(&key, bytes, sizeof key);
    return key | 1;
}

static uint64_t hash_of(const char *text, size_t size, uint64_t key)
{
    uint64_t h = key ^ size, word;

    for (size_t at = 0; at < size; at += sizeof word) {
        word = 0;
        memcpy(&word, text + at, size - at < sizeof word ? size - at : sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15U;
        h ^= h >> 29;
    }
    h *= 0xbf58476d1ce4e5b9U;
    return h ^ h >> 32;
}

/* @return the slot of a text, or the free slot for it */
static struct report_string_slot *look(const struct report_strings *strings, const char *text,
                                       uint64_t hash)
{
    size_t i = (size_t)hash & (strings->room - 1);

    while (strings->slots[i].number != 0 &&
           (strings->slots[i].hash != hash ||
            strcmp(strings->all.at[strings->slots[i].number - 1], text) != 0))
        i = (i + 1) & (strings->room - 1);
    return &strings->slots[i];
}

/* All texts differ: a free slot is enough. */
static void move(struct report_string_slot *slots, size_t room, struct report_string_slot slot)
{
    size_t i = (size_t)slot.hash & (room - 1);

    while (slots[i].number != 0)
        i = (i + 1) & (room - 1);
    slots[i] = slot;
}

static bool grow(struct report_strings *strings)
{
    const size_t room = strings->room ? 2 * strings->room : FIRST;
    struct report_string_slot *slots = calloc(room, sizeof *slots);

    if (!slots)
        return false;
    if (strings->room == 0)
        strings->key = random_key();
    for (size_t i = 0; i < strings->room; i++)
        if (strings->slots[i].number != 0)
            move(slots, room, strings->slots[i]);
    free(strings->slots);
    strings->slots = slots;
    strings->room = room;
    return true;
}

bool report_strings_add(struct report_strings *strings, const char *text, uint32_t *out)
{
    const char *from = text ? text : "";
    const size_t size = strlen(from);
    struct report_string_slot *slot;
    char *copy, **place;
    uint64_t hash;

    if (2 * strings->all.count >= strings->room && !grow(strings))
        return false;
    hash = hash_of(from, size, strings->key);
    slot = look(strings, from, hash);
    if (slot->number == 0) {
        copy = malloc(size + 1);
        place = copy ? REPORT_NEXT(strings->all) : NULL;
        if (!place) {
            free(copy);
            return false;
        }
        *place = memcpy(copy, from, size + 1);
        *slot = (struct report_string_slot){ hash, (uint32_t)strings->all.count };
    }
    *out = slot->number - 1;
    return true;
}

bool report_strings_find(const struct report_strings *strings, const char *text, uint32_t *out)
{
    const struct report_string_slot *slot;

    if (strings->room == 0)
        return false;
    slot = look(strings, text, hash_of(text, strlen(text), strings->key));
    if (slot->number != 0)
        *out = slot->number - 1;
    return slot->number != 0;
}

void report_strings_free(struct report_strings *strings)
{
    for (size_t i = 0; i < strings->all.count; i++)
        free(strings->all.at[i]);
    free(strings->all.at);
    free(strings->slots);
    *strings = (struct report_strings){ .all = { .count = 0 } };
}
