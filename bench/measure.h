/** What is measured, and the round-robin that measures it. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "peers.h"
#include "stacks.h"
#include "timing.h"

enum { MEASURE_DEPTHS = 5, MEASURE_ENCODED_MAX = 8, MEASURE_SAMPLES_MAX = 101 };

/*
 * The situations: one stack again and again, at four depths; and 64 different stacks in turn, one
 * walk of each. A stack that is repeated lets the processor learn every search by heart, which
 * flatters whoever searches; a profiler never sees that.
 */
struct situation {
    int depth;
    bool varied;
};
extern const struct situation situations[MEASURE_DEPTHS];

/* One figure: batches of the same work. */
struct cell {
    const struct stacks *encoded; /* for the encoder; NULL: a walk, and the next three say which */
    const struct peer *peer;
    enum chain_build build;
    const struct situation *situation;

    double stacks;                       /* captured or encoded by one call */
    double frames;                       /* likewise */
    unsigned count;                      /* calls in a batch */
    double samples[MEASURE_SAMPLES_MAX]; /* ns a call */
    struct spread ns;                    /* a call */
};

struct measurement {
    struct cell walks[CHAIN_BUILDS][MEASURE_DEPTHS][PEER_COUNT]; /* no peer: cannot be had */
    struct cell encoder[MEASURE_ENCODED_MAX];
    struct stacks encoded[MEASURE_ENCODED_MAX];
    unsigned encoded_count;
    unsigned samples;  /* batches of each cell */
    uint64_t batch_ns; /* the least that a batch takes */
};

/*
 * Loads the chain and the peers and makes the orders. The stacks of the chain join the encoded
 * ones.
 * @return 0, or -1: said on stderr
 */
int measure_prepare(struct measurement *m);

/* Verifies every peer in every situation, and the encoder. @return 0, or -1: said on stderr */
int measure_verify(struct measurement *m);

/* Fills all cells. */
void measure_run(struct measurement *m);

/* Walks count times with sframe_backtrace_cbf() at depth 128, for a tool that counts instructions.
 */
void measure_walks(enum chain_build build, unsigned count);

#endif
