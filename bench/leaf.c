#include "leaf.h"

#include <signal.h>
#include <ucontext.h>

#include "random.h"
#include "sfb/walk.h"
#include "timing.h"

struct leaf_imports leaf_imports;

void leaf_start_from(struct batch *batch, const void *context)
{
    batch->context = context;
    batch->options.context = context;
}

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

WALK walk_fp_minimal_from(const ucontext_t *context, void **out, int size)
{
    void **fp = (void **)context->uc_mcontext.gregs[REG_RBP];

    out[0] = (void *)context->uc_mcontext.gregs[REG_RIP];
    for (int i = 1; i < size; i++) {
        out[i] = fp[1];
        fp = fp[0];
    }
    return size;
}

/* With the checks that a walk needs to be let loose on a real program. */
static inline __attribute__((always_inline)) int fp_checked(uintptr_t fp, const struct batch *b,
                                                            void **out, int size)
{
    uintptr_t lo = b->stack_start;
    uintptr_t hi = b->stack_end - 2 * sizeof(void *);

    for (int i = 0; i < size; i++) {
        if (fp < lo || fp > hi || fp % sizeof(void *) != 0) {
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

WALK walk_fp_checked(struct batch *b)
{
    return fp_checked((uintptr_t)__builtin_frame_address(0), b, b->addresses, b->depth);
}

WALK walk_fp_checked_from(const ucontext_t *context, struct batch *b)
{
    uintptr_t fp = (uintptr_t)context->uc_mcontext.gregs[REG_RBP];

    b->addresses[0] = (void *)context->uc_mcontext.gregs[REG_RIP];
    return 1 + fp_checked(fp, b, b->addresses + 1, b->depth - 1);
}

WALK walk_unw_step(struct batch *b)
{
    enum { REG_IP = 16, SIGNAL_FRAME = 1 };

    uint64_t cursor[128]; /* unw_cursor_t: 127 words */
    ucontext_t here;      /* unw_context_t is the same struct */
    int i = 0;

    if (b->context != NULL) {
        uint64_t ip = 0;

        leaf_imports.unw_init_local2(cursor, b->context, SIGNAL_FRAME);
        leaf_imports.unw_get_reg(cursor, REG_IP, &ip);
        b->addresses[i++] = (void *)(uintptr_t)ip;
    } else {
        leaf_imports.unw_getcontext(&here);
        leaf_imports.unw_init_local2(cursor, &here, 0);
    }
    for (; i < b->depth && leaf_imports.unw_step(cursor) > 0; i++) {
        uint64_t ip = 0;

        leaf_imports.unw_get_reg(cursor, REG_IP, &ip);
        b->addresses[i] = (void *)(uintptr_t)ip;
    }
    return i;
}

/* This library by its walker: addresses from a context, and with flags. */
WALK walk_walker(struct batch *b)
{
    struct sfb_walker_options options = { .size = sizeof options, .flags = b->walker_flags };
    struct sfb_context start;
    struct sfb_walker walker;
    enum sfb_status status;
    int i = 0;

    if (b->context != NULL) {
        sfb_context_from_ucontext(&start, b->context);
        status = sfb_walker_init(&walker, &start, SFB_FRAME_PC, &options);
    } else {
        sfb_context_capture(&start);
        status = sfb_walker_init(&walker, &start, SFB_FRAME_RA, &options);
        if (status == SFB_OK) {
            status = sfb_walker_next(&walker, NULL); /* this very function */
        }
    }
    for (; i < b->depth && status == SFB_OK; i++) {
        status = sfb_walker_next(&walker, NULL);
        if (status != SFB_OK) {
            break;
        }
        b->addresses[i] = (void *)(uintptr_t)sfb_walker_frame(&walker)->address;
    }
    return i;
}

/* What is measured around a walk that is not timed by itself: to be taken off. */
WALK walk_nothing(struct batch *b)
{
    __asm__ volatile("" : : "r"(b) : "memory");
    return b->depth;
}

/* One call site for the walks before the clock and those that count: the stack is the same. */
#define LEAF(name, call)                                                                           \
    __attribute__((noinline, section("code_" #name))) void leaf_##name(struct chain *chain)        \
    {                                                                                              \
        struct batch *b = chain->batch;                                                            \
        unsigned left = b->warm;                                                                   \
        uint64_t start = 0;                                                                        \
                                                                                                   \
        if (b->before != NULL) {                                                                   \
            b->before();                                                                           \
        }                                                                                          \
        for (int timed = 0; timed < 2; timed++, left = b->count) {                                 \
            start = timing_now();                                                                  \
            for (; left > 0; left--) {                                                             \
                b->result = call;                                                                  \
            }                                                                                      \
        }                                                                                          \
        b->ns = timing_now() - start;                                                              \
    }                                                                                              \
                                                                                                   \
    __attribute__((noinline, section("code_" #name))) void once_##name(struct chain *chain)        \
    {                                                                                              \
        struct batch *b = chain->batch;                                                            \
                                                                                                   \
        b->result = call;                                                                          \
    }

/* The stack that this runs on: a fiber's, or the thread's own. */
static inline const struct sframe_backtrace_options *options_here(struct batch *b)
{
    if (b->lends_stack) {
        b->options.stack = (const void *)b->stack_start;
        b->options.stack_size = b->stack_end - b->stack_start;
    }
    return &b->options;
}

LEAF(cbf, leaf_imports.cbf(b->cbf, sizeof b->cbf, options_here(b), b->info))
LEAF(options, leaf_imports.options(b->addresses, CHAIN_FUNCTIONS + 8, options_here(b), NULL))
LEAF(addresses, leaf_imports.addresses(b->addresses, b->depth))
LEAF(walker, walk_walker(b))
LEAF(fp_minimal, b->context == NULL ? walk_fp_minimal(b->addresses, b->depth)
                                    : walk_fp_minimal_from(b->context, b->addresses, b->depth))
LEAF(fp_checked, b->context == NULL ? walk_fp_checked(b) : walk_fp_checked_from(b->context, b))
LEAF(unw_backtrace, leaf_imports.unw_backtrace(b->addresses, b->depth))
LEAF(unw_step, walk_unw_step(b))
LEAF(glibc, leaf_imports.glibc_backtrace(b->addresses, b->depth))
LEAF(nothing, walk_nothing(b))

static struct batch *trapped;

static __attribute__((section("code_on_trap"))) void on_trap(int number, siginfo_t *info,
                                                             void *context)
{
    struct chain chain = { .batch = trapped };

    (void)number, (void)info;
    leaf_start_from(trapped, trapped->takes_context ? context : NULL);
    trapped->inner(&chain);
}

void leaf_trap_install(void)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

    sigaction(SIGTRAP, &action, NULL);
}

__attribute__((noinline, section("code_trap"))) void leaf_trap(struct chain *chain)
{
    /* It calls nothing, so the compiler would leave out its frame: its address is used instead. */
    trapped = chain->batch;
    __asm__ volatile("int3" : : "r"(__builtin_frame_address(0)) : "memory");
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory");
}

struct chain_order leaf_variants[LEAF_VARIANTS];
int leaf_only_variant = -1;

__attribute__((noinline, section("code_vary"))) void leaf_vary(struct chain *chain)
{
    struct batch *b = chain->batch;
    uint64_t state = 1;
    uint64_t start = timing_now();

    for (unsigned left = b->count; left > 0; left--) {
        unsigned any = random_below(&state, LEAF_VARIANTS);
        struct chain_order *variant =
            &leaf_variants[leaf_only_variant < 0 ? any : (unsigned)leaf_only_variant];
        struct chain inner = { .next = variant->functions, .batch = b };

        variant->functions[variant->count] = b->inner;
        (*inner.next++)(&inner);
    }
    b->ns = timing_now() - start;
}
