/*
 * Functions without frame pointers, built with -O2: fp is a register like others, which some of them save. Values that last
 * are global: no function needs a register for them.
 */
#include "profiler/tests/heap/names_bare.h"

#if defined(__x86_64__)
#define SPOIL_FP(value) __asm__ volatile("mov %0, %%rbp" : : "r"(value) : "rbp")
#elif defined(__aarch64__)
#define SPOIL_FP(value) __asm__ volatile("mov x29, %0" : : "r"(value) : "x29")
#endif

static const struct bare *bare;
static unsigned left;

static void next(void);

/* Has its callers read fp from its frame. What it leaves there may be another frame's fp. */
static __attribute__((noinline)) void saves(void)
{
    volatile uint64_t here[4] = { 0 };

    SPOIL_FP((uint64_t)(uintptr_t)here + 16 * (uint64_t)bare->dice(32));
    next();
    here[0] = 1;
    __asm__ volatile("");
}

/* Pass the fp of their caller on. Their frames are as large as some of needs(). */
#define PASSES(n)                                                                                  \
    static __attribute__((noinline)) void passes_##n(void)                                         \
    {                                                                                              \
        volatile char room[16 * (n) + 8];                                                          \
                                                                                                   \
        room[0] = 1;                                                                               \
        next();                                                                                    \
        (void)room[0];                                                                             \
    }

PASSES(0)
PASSES(1)
PASSES(2)
PASSES(3)
PASSES(4)

/* Its frame's size is known at run time: its rule needs fp. */
static __attribute__((noinline)) void needs(void)
{
    volatile char *room = __builtin_alloca(16 + 16 * (size_t)bare->dice(4));

    room[0] = 1;
    next();
    (void)room[0];
}

/* Most checks are of the innermost frame: what two stacks in turn have in common is inside of what differs. */
static __attribute__((noinline)) void next(void)
{
    static void (*const functions[])(void) = { saves,    passes_0, passes_1, passes_2,
                                               passes_3, passes_4, needs,    needs };

    if (left > 0) {
        left--;
        functions[bare->dice(sizeof functions / sizeof *functions)]();
        left++;
    }
    if (left == 0 || bare->dice(16) == 0)
        bare->check();
    __asm__ volatile("");
}

void bare_begin(const struct bare *b, unsigned depth)
{
    bare = b;
    left = depth;
    saves();
    __asm__ volatile("");
}
