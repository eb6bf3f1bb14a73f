/* Functions without any row: a warning, if they are much of the code. */
#ifndef TOOLCHAIN_CHECK_LOST_H
#define TOOLCHAIN_CHECK_LOST_H

#include "toolchain/check/check.h"

struct lost {
    uint64_t functions, bytes;
    uint64_t left_out; /* bytes of functions that GNU as leaves out */
    uint64_t start;    /* of the first one */
    uint64_t end;      /* of the last one */
    bool torn;         /* there is other code between them */
};

/* Adds one, unless it is a linkage table or the code of a start file. */
void lost_add(struct lost *l, const struct check *c, uint64_t start, uint64_t bytes);

/* @param bytes  of all functions */
void lost_say(const struct lost *l, struct check *c, uint64_t bytes);

#endif
