/*
 * Functions of .eh_frame that .sframe does not have: one by one, or, where many follow one another,
 * as the table that is missing.
 */
#ifndef CHECK_MISSING_H
#define CHECK_MISSING_H

#include "check.h"

enum { MISSING_TABLE = 8 };

struct missing_function {
    uint64_t start, bytes;
    uint32_t offset; /* of its entry in .eh_frame */
};

/* Those since the last one that has rows. */
struct missing {
    struct missing_function list[MISSING_TABLE]; /* the first ones */
    uint64_t count, bytes, last;
};

void missing_add(struct missing *m, const struct missing_function *function);

/* Says what was missing up to here, and begins again. */
void missing_say(struct missing *m, struct check *c);

#endif
