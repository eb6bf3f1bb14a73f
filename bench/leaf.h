/**
 * The innermost functions of the measured stacks: for each peer two that call it, in a loop between
 * two readings of the clock and just once, and the places of a stack to call them from.
 *
 * leaf.c is built with frame pointers and .sframe, so that every peer can leave it.
 */
#ifndef BENCH_LEAF_H
#define BENCH_LEAF_H

#include "chain.h"
#include "sframe_backtrace.h"

#include <stdint.h>

enum { LEAF_CBF_SIZE = 16384 };

/* One batch of walks: what the leaf is asked, and what it answers. */
struct batch {
    int depth;             /* frames to take */
    unsigned warm;         /* walks before the clock starts */
    unsigned count;        /* walks that are timed */
    void (*before)(void);  /* called before the clock starts, or NULL */
    chain_function *inner; /* what leaf_trap, leaf_vary and leaf_parked call */
    bool takes_context;    /* the walk starts where a signal struck, not in its handler */
    const void *context;   /* ucontext_t to start from; NULL: from here */
    uint32_t walker_flags; /* for the walker's own interface */
    uintptr_t stack_start, stack_end;        /* for the checked frame-pointer walk */
    bool lends_stack;                        /* tells ours of it */
    struct sframe_backtrace_options options; /* depth, context and flags again, for our own */
    uint32_t skip;                           /* of these options, once more */
    uint64_t hash;                           /* of the last walk, if it was asked for */
    struct sframe_backtrace_info *info;      /* of the last sframe_backtrace_cbf(), or NULL */

    uint64_t ns;    /* of the timed walks */
    ssize_t result; /* of the last walk: frames, or bytes of CBF */
    void *addresses[CHAIN_FUNCTIONS + 8];
    uint8_t cbf[LEAF_CBF_SIZE];
};

/*
 * The system's libunwind and glibc, by pointer: libunwind must stay out of the symbol scope, where
 * its backtrace() would replace glibc's; and a sanitizer's backtrace() is not glibc's.
 */
struct leaf_imports {
    ssize_t (*cbf)(void *, size_t, const struct sframe_backtrace_options *,
                   struct sframe_backtrace_info *);
    ssize_t (*options)(void **, size_t, const struct sframe_backtrace_options *,
                       struct sframe_backtrace_info *);
    int (*addresses)(void **, int);
    int (*glibc_backtrace)(void **buffer, int size);
    int (*unw_backtrace)(void **buffer, int size);
    int (*unw_getcontext)(void *context);
    int (*unw_init_local2)(void *cursor, const void *context, int flag);
    int (*unw_step)(void *cursor);
    int (*unw_get_reg)(void *cursor, int reg, uint64_t *out);
};
extern struct leaf_imports leaf_imports;

/* Starts a batch from a context, or from here again (NULL). */
void leaf_start_from(struct batch *batch, const void *context);

/* The walks, by the name of their leaves. */
#define LEAVES(X)                                                                                  \
    X(cbf)                                                                                         \
    X(addresses)                                                                                   \
    X(options)                                                                                     \
    X(walker)                                                                                      \
    X(fp_minimal)                                                                                  \
    X(fp_checked)                                                                                  \
    X(unw_backtrace)                                                                               \
    X(unw_step)                                                                                    \
    X(glibc)                                                                                       \
    X(nothing)

/*
 * leaf_x() runs a whole batch, once_x() one walk. Both are in a section of their own, whose bounds
 * the linker names: the innermost frame of a walk has to lie between them.
 */
#define LEAF_BOUNDS(name) extern const char __start_code_##name[], __stop_code_##name[];
#define LEAF_DECLARE(name)                                                                         \
    chain_function leaf_##name, once_##name;                                                       \
    LEAF_BOUNDS(name)
LEAVES(LEAF_DECLARE)
#undef LEAF_DECLARE

/* Raises a signal, in whose handler batch->inner is called. */
chain_function leaf_trap;
LEAF_BOUNDS(trap)
LEAF_BOUNDS(on_trap)

/* Handles that signal while the situation lasts. */
void leaf_trap_install(void);

/*
 * Calls batch->inner count times, each time through another of LEAF_VARIANTS stacks of 0 to
 * LEAF_VARY_MAX functions, in random order, and times all of that.
 */
enum { LEAF_VARIANTS = 64, LEAF_VARY_MAX = 14 };
extern struct chain_order leaf_variants[LEAF_VARIANTS];
extern int leaf_only_variant; /* take no other; -1: any */
chain_function leaf_vary;
LEAF_BOUNDS(vary)

#endif
