/* Counted nouns: "1 stack", "2 stacks". */
#ifndef UTIL_COUNTED_H
#define UTIL_COUNTED_H

#include <stdint.h>

/* Room for a count and a noun with its phrase; a longer one is cut. */
struct counted {
    char text[128];
};

/*
 * Joins a count and its noun: `counted(1, "stacks are cut off").text` is "1 stack is cut off".
 *
 * For 1, the first word that ends in s becomes a singular, and so does "are", "were" or "have"
 * right behind it. Other words stay, and so does a text that begins with a unit: "ms".
 *
 * @param plural  "stacks", "processes", "lost records", "samples: the thread's ring was full"
 */
struct counted counted(uint64_t count, const char *plural);

/* The noun alone: for 1 "stack", else "stacks". */
struct counted counted_noun(uint64_t count, const char *plural);

#endif
