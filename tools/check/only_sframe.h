/*
 * Functions that .sframe has, and .eh_frame not at all: one by one (SF0508), or, where there are many of
 * them, as what it is: the assembler was told to write .sframe alone.
 */
#ifndef CHECK_ONLY_SFRAME_H
#define CHECK_ONLY_SFRAME_H

#include "answer.h"
#include "cfi.h"

struct only_sframe {
    bool many; /* it was said of all of them */
};

/* Counts them, and says what they are if they are many. */
void only_sframe_say(struct only_sframe *out, struct check *c, const struct asker *asker,
                     const struct cfi *cfi);

/* Whether the function that .sframe has at a pc is one of them. */
bool only_sframe_at(const struct asker *asker, const struct cfi *cfi, uint64_t pc);

#endif
