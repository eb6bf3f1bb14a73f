/* For tests that are plain programs: what a test runner would put on their stacks is in the way. */
#ifndef SUPPORT_EXPECT_H
#define SUPPORT_EXPECT_H

#include <stdbool.h>
#include <stdio.h>

static unsigned failures; /* main() returns whether there were any */

static inline bool expect(bool good, const char *title, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s: not as expected: %s\n", title, what);
        failures++;
    }
    return good;
}

#endif
