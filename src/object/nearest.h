/* Names that are near a typed one: suggestions. */
#ifndef OBJECT_NEAREST_H
#define OBJECT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Counts the letters that are to be changed, inserted, left out, or swapped with their neighbour, to make one text of
 * the other. A letter's case does not count.
 *
 * @return the number; more than `most`: it is larger, or a text has more than 128 bytes
 */
size_t object_edit_distance(const char *a, size_t a_size, const char *b, size_t b_size,
                            size_t most);

enum { OBJECT_NEAREST_MAX = 3 };

/** The nearest names so far. */
struct object_nearest {
    const char *typed;
    size_t typed_size;
    struct {
        const char *name; /* borrowed */
        size_t distance;
    } names[OBJECT_NEAREST_MAX]; /* nearest first */
    size_t count;
};

/** Begins with no name. @param typed  borrowed */
void object_nearest_begin(struct object_nearest *out, const char *typed, size_t size);

/**
 * Takes a name that is near enough: a third of the typed letters is wrong at most; or one begins with the other.
 *
 * @param part  of the name, which is compared
 * @param name  borrowed; one that is known already is left out
 */
void object_nearest_add(struct object_nearest *nearest, const char *part, const char *name);

/** Leaves out all that are further away than the nearest one by more than one letter. */
void object_nearest_end(struct object_nearest *nearest);

#endif
