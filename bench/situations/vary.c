/* The same stack, but its innermost frames are others at each walk: what a memo of it sees. */
#include "situations/situation.h"

#include "random.h"

static struct chain_order outer; /* all functions but those that vary */

/* Variant v: 0 to 14 of the functions that outer leaves out, in an order of its own. */
static int make_variants(enum chain_set set, int depth)
{
    const struct chain_order *whole = chain_whole(set);
    uint64_t state = 7;

    (void)depth;
    outer = *whole;
    outer.count = whole->count - LEAF_VARY_MAX;
    for (unsigned v = 0; v < LEAF_VARIANTS; v++) {
        struct chain_order *variant = &leaf_variants[v];
        unsigned pool[LEAF_VARY_MAX];

        for (unsigned i = 0; i < LEAF_VARY_MAX; i++) {
            pool[i] = (unsigned)outer.count + i;
        }
        variant->set = set;
        variant->count = v % (LEAF_VARY_MAX + 1);
        for (unsigned i = 0; i < variant->count; i++) {
            unsigned pick = random_below(&state, LEAF_VARY_MAX - i);

            variant->functions[i] = whole->functions[pool[pick]];
            variant->numbers[i] = whole->numbers[pool[pick]];
            pool[pick] = pool[LEAF_VARY_MAX - 1 - i];
        }
    }
    return 0;
}

static int verify_variant(const struct peer *peer, int depth, unsigned v)
{
    static struct expected expected;
    struct sframe_backtrace_info info = { .size = sizeof info };

    expected.count = 0;
    expect_code(&expected, peer->leaf_start, peer->leaf_stop);
    expect_order(&expected, &leaf_variants[v]);
    expect_code(&expected, __start_code_vary, __stop_code_vary);
    expect_order(&expected, &outer);
    leaf_only_variant = (int)v;
    peer_batch(&situation_batch, peer, depth, 0, 1);
    situation_batch.inner = peer->once;
    situation_batch.info = &info;
    chain_enter(&outer, leaf_vary, &situation_batch);
    leaf_only_variant = -1;
    return verify_result(peer, "vary", &situation_batch, &expected);
}

static int verify(const struct peer *peer, enum chain_set set, int depth)
{
    (void)set;
    for (unsigned v = 0; v < LEAF_VARIANTS; v++) {
        if (verify_variant(peer, depth, v) != 0) {
            return -1;
        }
    }
    return 0;
}

static uint64_t run(const struct peer *peer, enum chain_set set, int depth, unsigned count)
{
    (void)set;
    peer_batch(&situation_batch, peer, depth, 0, count);
    situation_batch.inner = peer->once;
    chain_enter(&outer, leaf_vary, &situation_batch);
    return situation_batch.ns;
}

int situation_vary(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "vary",
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .begin = make_variants,
                                           .verify = verify,
                                           .run = run,
                                           .less_nothing = true },
                         effort);
}
