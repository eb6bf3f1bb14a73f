/* Recursion: the same return address again and again, which CBF writes as one instruction. */
#include "situations/situation.h"

static struct chain_order order;

static int begin(enum chain_set set, int depth)
{
    const struct chain_order *whole = chain_whole(set);

    (void)depth;
    order.set = set;
    order.count = whole->count;
    for (size_t i = 0; i < order.count; i++) {
        order.functions[i] = whole->functions[0];
        order.numbers[i] = whole->numbers[0];
    }
    return 0;
}

static int verify(const struct peer *peer, enum chain_set set, int depth)
{
    static struct expected expected;
    struct sframe_backtrace_info info = { .size = sizeof info };

    (void)set;
    expected.count = 0;
    expect_code(&expected, peer->leaf_start, peer->leaf_stop);
    expect_order(&expected, &order);
    peer_batch(&situation_batch, peer, depth, 0, 1);
    situation_batch.info = &info;
    chain_enter(&order, peer->leaf, &situation_batch);
    return verify_result(peer, "repeat", &situation_batch, &expected);
}

static uint64_t run(const struct peer *peer, enum chain_set set, int depth, unsigned count)
{
    (void)set;
    peer_batch(&situation_batch, peer, depth, 1, count);
    chain_enter(&order, peer->leaf, &situation_batch);
    return situation_batch.ns;
}

int situation_repeat(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "repeat",
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .begin = begin,
                                           .verify = verify,
                                           .run = run },
                         effort);
}
