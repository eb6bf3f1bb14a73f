/*
 * Blocks of many stacks, each of which says how large its blocks are: a stack that stands with another one's blocks is found
 * out. The stacks have one frame, in no module.
 */
#ifndef LIVE_HEAP_NAMED_H
#define LIVE_HEAP_NAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/protocol/live_view.h"

enum { NAMED_SIZES = 1024 };

/* @param size   less than NAMED_SIZES
 * @param which  of the stacks of this size */
void *named_new(size_t size, uint32_t which);
void *named_resize(void *p, size_t size, uint32_t which);

/* What a visit has met. */
struct named_tally {
    uint64_t stacks, blocks, bytes;
    uint64_t wrong;   /* stacks whose blocks are not of their size */
    uint64_t unnamed; /* blocks without a stack */
};

/* Visits a table, and checks each stack. */
struct named_tally named_check(const struct sfb_live_view *view, const struct sfb_live_sum *sum);

#endif
