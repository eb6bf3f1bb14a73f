/**
 * 64 different stacks that exist at the same time: each is a fiber that waits in leaf_parked(), at
 * the inner end of an order of its own.
 */
#ifndef BENCH_FIBERS_H
#define BENCH_FIBERS_H

#include "leaf.h"

#include <ucontext.h>

enum { FIBERS = 64, FIBER_STACK = 192 << 10 };

struct fiber {
    void *sp;           /* while it waits */
    uint8_t *stack;     /* FIBER_STACK bytes */
    ucontext_t context; /* of its innermost frame, good while it waits */
    struct chain_order order;
};
extern struct fiber fibers[FIBERS];

/* Starts them all. @param stacks  FIBERS * FIBER_STACK bytes, aligned to a page */
void fibers_start(enum chain_set set, uint8_t *stacks);

/* Switches to a fiber, calls batch->inner there, and comes back. */
void fiber_run(unsigned number, struct batch *batch);

/* The code that waits. */
LEAF_BOUNDS(parked)

#endif
