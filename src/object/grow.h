/* Arrays that grow. */
#ifndef OBJECT_GROW_H
#define OBJECT_GROW_H

#include <stddef.h>
#include <stdlib.h>

/**
 * Makes room for one more element behind those of an array.
 *
 * @param room  how many it has room for; doubled where that is not enough
 * @param most  it never has room for more than that
 *
 * @return the array, which may have moved; NULL: no memory, or too many, and the array stays as it was
 */
static inline void *object_grow(void *array, size_t count, size_t *room, size_t each, size_t most)
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

#endif
