/* The walk inside a signal handler. */
#include "situations/situation.h"

static int verify(const struct peer *peer, enum chain_set set, int depth)
{
    static struct expected expected;
    struct sframe_backtrace_info info = { .size = sizeof info };

    expected.count = 0;
    if (!peer->takes_context) {
        expect_code(&expected, peer->leaf_start, peer->leaf_stop);
        expect_code(&expected, __start_code_on_trap, __stop_code_on_trap);
        expect_anything(&expected); /* the return from the handler, in the C library */
    }
    expect_code(&expected, __start_code_trap, __stop_code_trap);
    expect_order(&expected, chain_whole(set));
    peer_batch(&situation_batch, peer, depth, 0, 1);
    situation_batch.info = peer->takes_context ? &info : NULL;
    chain_enter(chain_whole(set), leaf_trap, &situation_batch);
    return verify_result(peer, "sig", &situation_batch, &expected);
}

static uint64_t run(const struct peer *peer, enum chain_set set, int depth, unsigned count)
{
    peer_batch(&situation_batch, peer, depth, 1, count);
    chain_enter(chain_whole(set), leaf_trap, &situation_batch);
    return situation_batch.ns;
}

int situation_signal(const struct effort *effort)
{
    leaf_trap_install();
    return measure_walks(&(struct method){ .situation = "sig",
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .verify = verify,
                                           .run = run },
                         effort);
}
