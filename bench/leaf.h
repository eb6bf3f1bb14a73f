/**
 * The innermost function of the measured stack, one for each peer: it calls the peer itself, in a
 * loop between two readings of the clock.
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
    unsigned warm;                           /* walks before the clock starts */
    unsigned count;                          /* walks that are timed */
    int depth;                               /* frames to take */
    struct sframe_backtrace_options options; /* says the same for sframe_backtrace_cbf() */
    struct sframe_backtrace_info *info;      /* of the last sframe_backtrace_cbf(), or NULL */

    uint64_t ns;    /* of the timed walks */
    ssize_t result; /* of the last walk: frames, or bytes of CBF */
    void *addresses[CHAIN_FUNCTIONS + 1];
    uint8_t cbf[LEAF_CBF_SIZE];
};

/*
 * The system's libunwind and glibc, by pointer: libunwind must stay out of the symbol scope, where
 * its backtrace() would replace glibc's; and a sanitizer's backtrace() is not glibc's.
 */
struct leaf_imports {
    int (*glibc_backtrace)(void **buffer, int size);
    int (*unw_backtrace)(void **buffer, int size);
    int (*unw_getcontext)(void *context);
    int (*unw_init_local)(void *cursor, void *context);
    int (*unw_step)(void *cursor);
    int (*unw_get_reg)(void *cursor, int reg, uint64_t *out);
};
extern struct leaf_imports leaf_imports;

/* The stack of this thread, for the checked frame-pointer walk. */
extern uintptr_t leaf_stack_start, leaf_stack_end;

#define LEAVES(X)                                                                                  \
    X(cbf)                                                                                         \
    X(addresses)                                                                                   \
    X(uncached)                                                                                    \
    X(fp_minimal)                                                                                  \
    X(fp_checked)                                                                                  \
    X(unw_backtrace)                                                                               \
    X(unw_step)                                                                                    \
    X(glibc)

/*
 * Each leaf has a section of its own, whose bounds the linker names: the innermost frame of a walk
 * has to lie between them.
 */
#define LEAF_DECLARE(name)                                                                         \
    chain_function leaf_##name;                                                                    \
    extern const char __start_code_##name[], __stop_code_##name[];
LEAVES(LEAF_DECLARE)
#undef LEAF_DECLARE

#endif
