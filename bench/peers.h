/** The walks that are compared. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "leaf.h"
#include "sfb/walk.h"

#include <stdio.h>

/*
 * One line each: what the code calls it, what tables call it, its leaf (see LEAVES), and what else
 * is to be known. A row of ours with other options is one more line:
 *
 *     X(CBF_NO_MEMO, "cbf, no memo", cbf, .ours = true, .cbf = true, .takes_context = true,
 *       .flags = SFRAME_BACKTRACE_...)
 */
#define PEERS(X)                                                                                   \
    X(CBF, "sframe_backtrace_cbf()", cbf, .ours = true, .cbf = true, .takes_context = true)        \
    X(CBF_LENT, "..._cbf(), lent stack", cbf, .ours = true, .cbf = true, .takes_context = true,    \
      .lends_stack = true)                                                                         \
    X(CBF_MEMO, "..._cbf(), lent stack, memo", cbf, .ours = true, .cbf = true,                     \
      .takes_context = true, .lends_stack = true, .lends_memo = true)                              \
    X(ADDRESSES, "sframe_backtrace()", addresses, .ours = true)                                    \
    X(LENT, "..._addresses(), lent stack", options, .ours = true, .takes_context = true,           \
      .lends_stack = true)                                                                         \
    X(MEMO, "..._addresses(), and memo", options, .ours = true, .takes_context = true,             \
      .lends_stack = true, .lends_memo = true)                                                     \
    X(LENT_SKIP, "..._addresses(), skip 1", options, .ours = true, .takes_context = true,          \
      .lends_stack = true, .skip = 1)                                                              \
    X(SKIP, "..._addresses(), memo, skip 1", options, .ours = true, .takes_context = true,         \
      .lends_stack = true, .lends_memo = true, .skip = 1)                                          \
    X(HASH, "..._addresses(), memo, hash", options, .ours = true, .takes_context = true,           \
      .lends_stack = true, .lends_memo = true, .hashes = true)                                     \
    X(WALKER, "sfb_walker_next() loop", walker, .ours = true, .takes_context = true)               \
    X(UNCACHED, "the same, no cache", walker, .ours = true, .takes_context = true,                 \
      .walker_flags = SFB_WALKER_NO_CACHE)                                                         \
    X(FP_MINIMAL, "frame pointers, minimal", fp_minimal, .needs_fp = true, .takes_context = true)  \
    X(FP_CHECKED, "frame pointers, checked", fp_checked, .needs_fp = true, .takes_context = true)  \
    X(UNW_BACKTRACE, "unw_backtrace()", unw_backtrace, .needs_libunwind = true)                    \
    X(UNW_STEP, "unw_step() loop", unw_step, .needs_libunwind = true, .takes_context = true)       \
    X(UNW_UNCACHED, "the same, UNW_CACHE_NONE", unw_step, .needs_libunwind = true,                 \
      .takes_context = true, .prepare = peers_libunwind_cache)                                     \
    X(GLIBC, "glibc backtrace()", glibc, .needs_libunwind = false)                                 \
    X(NOTHING, "(all but the walk)", nothing, .takes_context = true)

#define PEER_ID(id, name, leaf, ...) PEER_##id,
enum peer_id { PEERS(PEER_ID) PEER_COUNT };
#undef PEER_ID

struct peer {
    enum peer_id id;
    const char *name;
    chain_function *leaf, *once;
    const char *leaf_start, *leaf_stop; /* the code of both */
    bool ours;
    bool cbf;           /* answers in batch->cbf, else in batch->addresses */
    bool takes_context; /* can start from a ucontext_t; else it walks through the signal frame */
    bool lends_stack;   /* says where the stack is */
    bool lends_memo;    /* and has a memo for it */
    bool hashes;        /* asks for the hash, too */
    uint32_t skip;      /* innermost frames to leave out */
    bool needs_fp;      /* lost in code without frame pointers */
    bool needs_libunwind;
    uint32_t flags;              /* enum sframe_backtrace_flags */
    uint32_t walker_flags;       /* enum sfb_walker_flags */
    void (*prepare)(bool begin); /* called around its batches, or NULL */
};
extern const struct peer peers[PEER_COUNT];

/* Finds glibc's backtrace() and the system's libunwind. @return 0, or -1: said on stderr */
int peers_load(void);

/* @return whether libunwind is here */
bool peers_libunwind(void);

/* Turns libunwind's cache off (begin), and on again. It is the process's. */
void peers_libunwind_cache(bool begin);

/* @return whether this peer can walk that set here */
bool peer_works(const struct peer *peer, enum chain_set set);

/* Says which libraries the peers are. */
void peers_describe(FILE *out);

/* Asks the batch for walks of depth frames by a peer, from here, on this thread's own stack. */
void peer_batch(struct batch *out, const struct peer *peer, int depth, unsigned warm,
                unsigned count);

#endif
