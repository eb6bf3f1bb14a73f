/** The proof that all peers see the same frames. */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "peers.h"

/* Where a frame has to be: behind `after` and at most at `upto`, as return addresses lie. */
struct spot {
    uintptr_t after, upto;
    bool bare; /* the code has no .sframe */
};

/* The frames that a walk has to give, innermost first. */
struct expected {
    size_t count;
    struct spot spots[CHAIN_FUNCTIONS + 64];
};

/*
 * Takes the return address of every function of a set from the reference walk: frame pointers where
 * there are some, else libunwind's unw_step() (glibc's backtrace() where there is no libunwind).
 * Each must lie in the function that was called.
 *
 * @return 0, or -1: said on stderr
 */
int verify_learn(enum chain_set set);

/* Adds a frame somewhere in code that the linker gave the bounds of. */
void expect_code(struct expected *out, const char *start, const char *stop);

/* Adds a frame that may lie anywhere: the C library's return from a signal. */
void expect_anything(struct expected *out);

/* Adds the frames of an order, from the function called last to the one called first. */
void expect_order(struct expected *out, const struct chain_order *order);

/*
 * Judges the last walk of a batch: the frames expected, as many as the batch asked for, innermost
 * first. Where batch->info was given, the tables that found them must be the right ones, too:
 * .sframe wherever the code has it, .eh_frame elsewhere.
 *
 * @return 0, or -1: said on stderr
 */
int verify_result(const struct peer *peer, const char *where, struct batch *batch,
                  const struct expected *expected);

#endif
