/* What a hash of the stack costs beside the walk, where a memo knows all but the innermost frames. */
#include "situations/situation.h"

#include "random.h"

/* The pool is small: more functions than the rule cache has words for would be measured instead. */
enum { FRAMES = 64, NEW = 8, POOL = 64 };

static struct chain_order outer; /* those that stay */

static bool takes(const struct peer *peer)
{
    return peer->id == PEER_LENT || peer->id == PEER_MEMO || peer->id == PEER_HASH;
}

static int make_variants(enum chain_set set, int depth)
{
    const struct chain_order *whole = chain_whole(set);
    uint64_t state = 7;

    outer = *whole;
    outer.count = (size_t)depth - NEW;
    for (unsigned v = 0; v < LEAF_VARIANTS; v++) {
        struct chain_order *variant = &leaf_variants[v];

        variant->set = set;
        variant->count = NEW;
        for (unsigned i = 0; i < NEW; i++) {
            size_t pick = outer.count + random_below(&state, POOL);

            variant->functions[i] = whole->functions[pick];
            variant->numbers[i] = whole->numbers[pick];
        }
    }
    return 0;
}

/* The walk goes on to the end of the stack, behind the frames that are known here. */
static void ask_for_all(const struct peer *peer, int depth, unsigned count)
{
    peer_batch(&situation_batch, peer, depth, 0, count);
    situation_batch.options.max_frames = 0;
    situation_batch.inner = peer->once;
}

static int verify_variant(const struct peer *peer, int depth, unsigned v)
{
    static struct expected expected;

    expected.count = 0;
    expect_code(&expected, peer->leaf_start, peer->leaf_stop);
    expect_order(&expected, &leaf_variants[v]);
    expect_code(&expected, __start_code_vary, __stop_code_vary);
    expect_order(&expected, &outer);
    ask_for_all(peer, depth, 1);
    leaf_only_variant = (int)v;
    chain_enter(&outer, leaf_vary, &situation_batch);
    leaf_only_variant = -1;
    if (situation_batch.result > depth) {
        situation_batch.result = depth;
    }
    return verify_result(peer, "hash", &situation_batch, &expected);
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
    ask_for_all(peer, depth, count);
    chain_enter(&outer, leaf_vary, &situation_batch);
    return situation_batch.ns;
}

int situation_hash(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "hash",
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .only_depth = FRAMES,
                                           .takes = takes,
                                           .begin = make_variants,
                                           .verify = verify,
                                           .run = run,
                                           .less_nothing = true },
                         effort);
}
