/*
 * 64 different stacks in random order: the honest figure for a profiler. What a walker remembers of
 * functions is warm, but neither it nor the branch predictor can learn the sequence.
 */
#include "situations/situation.h"

#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "fibers.h"
#include "random.h"
#include "timing.h"

enum { STACKS = FIBERS * FIBER_STACK, PAGE = 4096 };

static uint8_t *stacks;
static const char *situation = "div";
static bool from_context;
static uint64_t state = 3; /* of the order of walks, which never repeats */

static int begin(enum chain_set set, int depth)
{
    if (depth == depths[0]) {
        fibers_start(set, stacks);
    }
    return 0;
}

static void walk(unsigned number)
{
    if (from_context) {
        struct chain chain = { .batch = &situation_batch };

        leaf_start_from(&situation_batch, &fibers[number].context);
        situation_batch.stack_start = (uintptr_t)fibers[number].stack;
        situation_batch.stack_end = situation_batch.stack_start + FIBER_STACK;
        situation_batch.inner(&chain);
    } else {
        fiber_run(number, &situation_batch);
    }
}

static int verify(const struct peer *peer, enum chain_set set, int depth)
{
    static struct expected expected;
    struct sframe_backtrace_info info = { .size = sizeof info };

    (void)set;
    for (unsigned i = 0; i < FIBERS; i++) {
        expected.count = 0;
        if (!from_context) {
            expect_code(&expected, peer->leaf_start, peer->leaf_stop);
        }
        expect_code(&expected, __start_code_parked, __stop_code_parked);
        expect_order(&expected, &fibers[i].order);
        peer_batch(&situation_batch, peer, depth, 0, 1);
        situation_batch.inner = peer->once;
        situation_batch.info = &info;
        walk(i);
        if (verify_result(peer, situation, &situation_batch, &expected) != 0) {
            return -1;
        }
    }
    return 0;
}

static uint64_t run(const struct peer *peer, enum chain_set set, int depth, unsigned count)
{
    uint64_t start;

    (void)set;
    peer_batch(&situation_batch, peer, depth, 0, 1);
    situation_batch.inner = peer->once;
    start = timing_now();
    for (; count > 0; count--) {
        walk(random_below(&state, FIBERS));
    }
    return timing_now() - start;
}

static bool takes_context(const struct peer *peer)
{
    return peer->takes_context && peer->id != PEER_UNW_UNCACHED;
}

static int measure(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = situation,
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .takes = from_context ? takes_context : NULL,
                                           .begin = begin,
                                           .verify = verify,
                                           .run = run,
                                           .less_nothing = true },
                         effort);
}

/* The stacks lie on the thread's own: a walker that knows its bounds knows theirs. */
static __attribute__((noinline, no_sanitize("address"))) int measure_on_this_stack(
    const struct effort *effort)
{
    uintptr_t start = (uintptr_t)alloca(STACKS + PAGE);

    stacks = (uint8_t *)((start + PAGE - 1) / PAGE * PAGE);
    return measure(effort);
}

static bool stack_is_large(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur / 2 > STACKS;
}

int situation_div(const struct effort *effort)
{
    if (!stack_is_large()) {
        record_skipped(situation, "the limit of the stack's size (ulimit -s) cannot be raised");
        return 0;
    }
    return measure_on_this_stack(effort);
}

int situation_div_fibers(const struct effort *effort)
{
    situation = "div-fibers";
    stacks = mmap(NULL, STACKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return stacks == MAP_FAILED ? -1 : measure(effort);
}

int situation_div_context(const struct effort *effort)
{
    situation = "div-context";
    from_context = true;
    return situation_div(effort);
}

int div_walks(enum chain_set set, int depth, const struct peer *peer, unsigned count)
{
    stacks = mmap(NULL, STACKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED || begin(set, depths[0]) != 0) {
        return 1;
    }
    run(peer, set, depth, count);
    return 0;
}
