/* Names of stacks by the memo alone, against the front door without a memo. */
#include "unwind/capture/stack_name.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/heap/names_bare.h"
#include "sfb/cbf.h"
#include "support/test.h"
#include "unwind/capture/backtrace.h"
#include "unwind/machine/arch.h"
#include "unwind/process/module_cache.h"

static struct sfb_stack_namer namer, other;
static uint64_t state = 88172645463325252u;
static unsigned checked;

static unsigned dice(unsigned sides)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % sides;
}

static uint64_t reference(const struct sfb_context *from, uint32_t *frames)
{
    static void *addresses[SFB_STACK_NAME_FRAMES];
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sfb_context context = *from;
    uint64_t hash = 0;
    ssize_t count;

    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.hash = &hash;
    count =
        sfb_backtrace_addresses_from(addresses, SFB_STACK_NAME_FRAMES, &options, NULL, &context);
    cr_assert_geq(count, 1);
    *frames = (uint32_t)count;
    return hash + (hash == 0);
}

static __attribute__((noinline)) void check(void)
{
    struct sfb_context context;
    struct sfb_regs caller = { 0 };
    uint32_t frames;
    uint64_t want, name;

    sfb_context_capture(&context);
    caller.pc = context.reg[SFB_ARCH_PC];
    caller.sp = context.reg[SFB_ARCH_SP];
    caller.fp = context.reg[SFB_ARCH_FP];
    name = sfb_stack_name(&namer, &caller); /* first of all: no rule may be in the cache yet */
    want = reference(&context, &frames);
    cr_assert_eq(name, want, "%u frames, check %u", frames, checked);
    if (dice(16) == 0) /* which has seen little of what came between */
        cr_assert_eq(sfb_stack_name(&other, &caller), want, "%u frames, check %u", frames, checked);
    checked++;
}

/* Two functions, with frames of many sizes, which call each other and themselves. */
static __attribute__((noinline)) void one(unsigned depth);

static __attribute__((noinline)) void two(unsigned depth)
{
    volatile char room[96];

    room[depth % sizeof room] = (char)depth;
    if (dice(3) == 0)
        check();
    for (unsigned i = dice(3); depth > 0 && i > 0; i--)
        one(depth - 1);
    check();
    (void)room[0];
}

static __attribute__((noinline)) void one(unsigned depth)
{
    volatile char *room = __builtin_alloca(16 + 16 * (size_t)dice(4));

    room[0] = (char)depth;
    if (depth > 0)
        (dice(2) == 0 ? one : two)(depth - 1);
    if (dice(3) == 0)
        check();
    if (depth > 0 && dice(4) == 0)
        two(depth - 1);
    (void)room[0];
}

Test(heap_names, is_what_the_front_door_says)
{
    while (checked < 30000)
        one(dice(40));
}

/* Now and then no rule is cached: the front door walks, with the same memo. */
static void check_or_walk(void)
{
    if (dice(8) == 0)
        memset(&sfb_live_rules, 0, sizeof sfb_live_rules);
    check();
}

/* A frame may equal the memo's but for an fp that its callers do not need. */
Test(heap_names, is_what_the_front_door_says_where_fp_is_any_register)
{
    static const struct bare bare = { dice, check_or_walk };

    while (checked < 30000)
        bare_begin(&bare, 1 + dice(3));
}

/* --- libraries that come and go --------------------------------------------------------------- */

typedef void through_function(void (*call)(unsigned), unsigned depth);

enum { LIBRARIES = 2 };
static void *libraries[LIBRARIES];
static through_function *ways[LIBRARIES];

static void load(unsigned i)
{
    static const char *const names[LIBRARIES] = { SFB_HEAP_THROUGH_SMALL, SFB_HEAP_THROUGH_LARGE };
    void *symbol;

    libraries[i] = dlopen(names[i], RTLD_NOW);
    cr_assert_not_null(libraries[i], "%s", dlerror());
    symbol = dlsym(libraries[i], "through");
    cr_assert_not_null(symbol);
    memcpy(&ways[i], &symbol, sizeof symbol);
}

static void unload(unsigned i)
{
    cr_assert_eq(dlclose(libraries[i]), 0);
    ways[i] = NULL;
}

/* By libraries that are loaded, and by functions that are always there. */
static __attribute__((noinline)) void by_libraries(unsigned depth)
{
    through_function *way = ways[dice(LIBRARIES)];

    if (depth > 0 && way && dice(3) > 0)
        way(by_libraries, depth - 1);
    else if (depth > 0)
        by_libraries(depth - 1);
    check();
    if (depth > 0 && dice(4) == 0)
        by_libraries(depth - 1);
    check();
}

Test(heap_names, is_what_the_front_door_says_where_libraries_come_and_go)
{
    for (unsigned round = 0; round < 40; round++) {
        const unsigned one_of_them = dice(LIBRARIES);

        load(one_of_them);
        for (unsigned i = 0; i < 10; i++)
            by_libraries(dice(20));
        if (dice(2) == 0) {
            load(1 - one_of_them);
            by_libraries(dice(20));
            unload(one_of_them);
            by_libraries(dice(20));
            unload(1 - one_of_them);
        } else {
            unload(one_of_them);
        }
    }
    cr_assert_gt(checked, 1000);
}

static __attribute__((noinline)) void deep(unsigned depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        check();
    check();
}

Test(heap_names, is_of_the_inner_frames_of_a_stack_that_is_too_deep)
{
    deep(3 * SFB_STACK_NAME_FRAMES);
}

Test(heap_names, has_its_stack)
{
    struct sfb_context context;
    struct sfb_regs caller = { 0 };
    static uint8_t cbf[9 * SFB_STACK_NAME_FRAMES + 64];
    enum sfb_status end = SFB_OK;

    sfb_context_capture(&context);
    caller.pc = context.reg[SFB_ARCH_PC];
    caller.sp = context.reg[SFB_ARCH_SP];
    caller.fp = context.reg[SFB_ARCH_FP];
    cr_expect_geq(sfb_stack_name_cbf(&caller, cbf, sizeof cbf, &end), 4);
    cr_expect_eq(end, SFB_END);
}
