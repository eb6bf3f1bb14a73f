/* Counted nouns: "1 stack", "2 stacks". */
#ifndef COUNTED_H
#define COUNTED_H

#include <stdint.h>

/* Room for a count and a noun with its phrase; a longer one is cut. */
struct counted {
    char text[128];
};

/*
 * Gives a count and its noun: `counted(1, "stacks are cut off").text` is "1 stack is cut off".
 *
 * Of 1, the first word that ends in s becomes a singular, and so does "are", "were" or "have" right behind it. All other
 * words stay, and so does a text that begins with a unit: "ms".
 *
 * @param plural  "stacks", "processes", "lost records", "samples: the thread's ring was full"
 */
struct counted counted(uint64_t count, const char *plural);

/* The same without the number: of 1 "stack", else "stacks". */
struct counted counted_noun(uint64_t count, const char *plural);

#endif
