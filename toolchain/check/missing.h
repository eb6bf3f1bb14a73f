/*
 * Functions of .eh_frame without an entry in .sframe: reported one by one, or, if many are
 * consecutive, as a missing table.
 */
#ifndef TOOLCHAIN_CHECK_MISSING_H
#define TOOLCHAIN_CHECK_MISSING_H

#include "toolchain/check/check.h"

enum { MISSING_TABLE = 8 };

struct missing_function {
    uint64_t start, bytes;
    uint32_t offset; /* of its entry in .eh_frame */
};

/* The consecutive ones since the last function with rows. */
struct missing {
    struct missing_function list[MISSING_TABLE]; /* the first ones */
    uint64_t count, bytes, last;
};

void missing_add(struct missing *m, const struct missing_function *function);

/* Reports the consecutive ones so far, and starts again. */
void missing_say(struct missing *m, struct check *c);

#endif
