/*
 * Functions that only .sframe has: reported one by one (SF0508), or, if many, as one note: the
 * assembler wrote no .eh_frame.
 */
#ifndef TOOLCHAIN_CHECK_ONLY_SFRAME_H
#define TOOLCHAIN_CHECK_ONLY_SFRAME_H

#include "toolchain/check/answer.h"
#include "toolchain/check/cfi.h"

struct only_sframe {
    bool many; /* one note was reported for all */
};

/* Counts them, and reports one note if they are many. */
void only_sframe_say(struct only_sframe *out, struct check *c, const struct asker *asker,
                     const struct cfi *cfi);

/* Whether the function of .sframe at a pc is one of them. */
bool only_sframe_at(const struct asker *asker, const struct cfi *cfi, uint64_t pc);

#endif
