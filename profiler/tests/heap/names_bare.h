/* Stacks of functions without frame pointers, for names.c. */
#ifndef PROFILER_TESTS_HEAP_NAMES_BARE_H
#define PROFILER_TESTS_HEAP_NAMES_BARE_H

#include <stddef.h>
#include <stdint.h>

struct bare {
    unsigned (*dice)(unsigned sides);
    void (*check)(void);
};

/* Calls functions at random, up to a depth, and checks in each. */
void bare_begin(const struct bare *b, unsigned depth);

#endif
