/* Suggestions: names near a typed one. */
#ifndef UTIL_NEAREST_H
#define UTIL_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Counts the letters to change, insert, delete, or swap with their neighbour, to turn one text into
 * the other. Case does not count.
 *
 * @return the number; more than `most`: larger, or a text above 128 bytes
 */
size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size, size_t most);

enum { NEAREST_MAX = 3 };

/** The nearest names so far. */
struct nearest {
    const char *typed;
    size_t typed_size;
    struct {
        const char *name; /* borrowed */
        size_t distance;
    } names[NEAREST_MAX]; /* nearest first */
    size_t count;
};

/**
 * Starts with no name. @param typed  borrowed
 */
void nearest_begin(struct nearest *out, const char *typed, size_t size);

/**
 * Adds a name that is near enough: at most a third of the typed letters is wrong, or one begins
 * with the other.
 *
 * @param part  of the name, for the comparison
 * @param name  borrowed; a known one is left out
 */
void nearest_add(struct nearest *nearest, const char *part, const char *name);

/**
 * Drops names that are further away than the nearest one by more than one letter.
 */
void nearest_end(struct nearest *nearest);

#endif
