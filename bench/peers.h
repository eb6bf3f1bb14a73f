/** The walks that are compared, and the proof that they all see the same frames. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "leaf.h"

#include <stdbool.h>
#include <stdio.h>

enum peer_id {
    PEER_CBF,
    PEER_ADDRESSES,
    PEER_UNCACHED,
    PEER_FP_MINIMAL,
    PEER_FP_CHECKED,
    PEER_UNW_BACKTRACE,
    PEER_UNW_STEP,
    PEER_GLIBC,
    PEER_COUNT
};

struct peer {
    const char *name;
    chain_function *leaf;
    const char *leaf_start, *leaf_stop; /* the code of the leaf */
    bool cbf;                           /* answers in batch->cbf, else in batch->addresses */
    bool needs_fp;                      /* lost on a build without frame pointers */
    bool needs_libunwind;
};
extern const struct peer peers[PEER_COUNT];

/* Finds glibc's backtrace() and the system's libunwind. @return 0, or -1: said on stderr */
int peers_load(void);

/* @return whether this peer can walk that build here */
bool peer_works(const struct peer *peer, enum chain_build build);

/* Says which libraries the peers are. */
void peers_describe(FILE *out);

/*
 * Takes the return address of every function of a build from the reference walk: frame pointers
 * where there are some, else libunwind's unw_step() (glibc's backtrace() where there is no
 * libunwind). Each must lie in the function that was called.
 *
 * @return 0, or -1: said on stderr
 */
int peers_learn(enum chain_build build);

/* @return the return address that peers_learn() saw in a function */
void *peer_return_address(enum chain_build build, unsigned function);

/*
 * Lets a peer walk an order once and compares all of its frames with the reference. The library's
 * own frames must come from .sframe, every one.
 *
 * @return 0, or -1: said on stderr
 */
int peer_verify(const struct peer *peer, enum chain_build build, struct chain_order *order,
                int depth);

/* Asks the batch for walks of depth frames. */
void peer_batch(struct batch *out, int depth, unsigned warm, unsigned count);

#endif
