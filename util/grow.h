/*
 * Arrays that grow.
 *
 * Inline, for archives that are installed: they link no library of this folder.
 */
#ifndef UTIL_GROW_H
#define UTIL_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * Makes room for one more element of an array.
 *
 * @param room  its capacity; doubled if needed
 * @param most  the maximum of room
 *
 * @return the array, which may have moved; NULL: no memory, or too many, and the array is unchanged
 */
static inline void *array_grow(void *array, size_t count, size_t *room, size_t each, size_t most)
{
    const size_t wanted = *room > 0 ? 2 * *room : 64;
    void *grown;

    if (count < *room)
        return array;
    grown = wanted <= most ? reallocarray(array, wanted, each) : NULL;
    if (grown)
        *room = wanted;
    return grown;
}

/**
 * The same of an array that has no limit.
 *
 * @param array  points to the pointer to its first element, which is of any type
 *
 * @return false: no memory, and the array stays as it was
 */
static inline bool array_make_room(void *array, size_t count, size_t *room, size_t each)
{
    void *at, *grown;

    memcpy(&at, array, sizeof at);
    grown = array_grow(at, count, room, each, SIZE_MAX);
    if (grown)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

/**
 * Makes room for so many bytes.
 *
 * @param array  points to the pointer to the first of them
 * @param room   how many it has room for; doubled until that is enough
 *
 * @return false: no memory, and the bytes stay as they were
 */
static inline bool array_make_room_for(void *array, size_t *room, size_t wanted)
{
    size_t more = *room > 0 ? *room : 256;
    void *at, *grown;

    if (wanted <= *room)
        return true;
    while (more < wanted && more <= SIZE_MAX / 2)
        more *= 2;
    memcpy(&at, array, sizeof at);
    grown = more >= wanted ? realloc(at, more) : NULL;
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *room = more;
    return true;
}

#endif
