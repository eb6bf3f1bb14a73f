#include "leaf.h"

#include "sfb/walk.h"
#include "timing.h"

#include <stdbool.h>
#include <ucontext.h>

struct leaf_imports leaf_imports;
uintptr_t leaf_stack_start, leaf_stack_end;

/* Walks of our own have the shape of backtrace(): called, not inlined, their own frame left out. */
#define WALK static __attribute__((noinline)) int

/* The least that finds the frames, and no more: what anything else is to be compared with. */
WALK walk_fp_minimal(void **out, int size)
{
    void **fp = __builtin_frame_address(0);

    for (int i = 0; i < size; i++) {
        out[i] = fp[1];
        fp = fp[0];
    }
    return size;
}

static bool fp_good(uintptr_t fp)
{
    return fp >= leaf_stack_start && fp <= leaf_stack_end - 2 * sizeof(void *) &&
           fp % sizeof(void *) == 0;
}

/* With the checks that a walk needs to be let loose on a real program. */
WALK walk_fp_checked(void **out, int size)
{
    uintptr_t fp = (uintptr_t)__builtin_frame_address(0);

    for (int i = 0; i < size; i++) {
        if (!fp_good(fp)) {
            return i;
        }

        uintptr_t next = ((const uintptr_t *)fp)[0];

        out[i] = ((void *const *)fp)[1];
        if (next <= fp) {
            return i + 1;
        }
        fp = next;
    }
    return size;
}

WALK walk_unw_step(void **out, int size)
{
    enum { REG_IP = 16 };

    uint64_t cursor[128]; /* unw_cursor_t: 127 words */
    ucontext_t context;   /* unw_context_t is the same struct */
    int i;

    leaf_imports.unw_getcontext(&context);
    leaf_imports.unw_init_local(cursor, &context);
    for (i = 0; i < size && leaf_imports.unw_step(cursor) > 0; i++) {
        uint64_t ip = 0;

        leaf_imports.unw_get_reg(cursor, REG_IP, &ip);
        out[i] = (void *)(uintptr_t)ip;
    }
    return i;
}

/* This library, each frame looked up in its section: what a frame costs that no cache knows. */
WALK walk_uncached(void **out, int size)
{
    static const struct sfb_walker_options options = { .size = sizeof options,
                                                       .flags = SFB_WALKER_NO_CACHE };
    struct sfb_context here;
    struct sfb_walker walker;
    int i = 0;

    sfb_context_capture(&here);
    if (sfb_walker_init(&walker, &here, SFB_FRAME_RA, &options) != SFB_OK ||
        sfb_walker_next(&walker, NULL) != SFB_OK) {
        return 0;
    }
    for (; i < size && sfb_walker_next(&walker, NULL) == SFB_OK; i++) {
        out[i] = (void *)(uintptr_t)walker.current.address;
    }
    return i;
}

/* One call site for the walks before the clock and those that count: the stack is the same. */
#define LEAF(name, call)                                                                           \
    __attribute__((noinline, section("code_" #name))) void leaf_##name(struct chain *chain)        \
    {                                                                                              \
        struct batch *b = chain->batch;                                                            \
        unsigned left = b->warm;                                                                   \
        uint64_t start = 0;                                                                        \
                                                                                                   \
        for (int timed = 0; timed < 2; timed++, left = b->count) {                                 \
            start = timing_now();                                                                  \
            for (; left > 0; left--) {                                                             \
                b->result = call;                                                                  \
            }                                                                                      \
        }                                                                                          \
        b->ns = timing_now() - start;                                                              \
    }

LEAF(cbf, sframe_backtrace_cbf(b->cbf, sizeof b->cbf, &b->options, b->info))
LEAF(addresses, sframe_backtrace(b->addresses, b->depth))
LEAF(uncached, walk_uncached(b->addresses, b->depth))
LEAF(fp_minimal, walk_fp_minimal(b->addresses, b->depth))
LEAF(fp_checked, walk_fp_checked(b->addresses, b->depth))
LEAF(unw_backtrace, leaf_imports.unw_backtrace(b->addresses, b->depth))
LEAF(unw_step, walk_unw_step(b->addresses, b->depth))
LEAF(glibc, leaf_imports.glibc_backtrace(b->addresses, b->depth))
