/* With 500 more libraries loaded: who looks through the list of them, shows it. */
#include "situations/situation.h"

static int verify(const struct peer *peer, enum chain_set set, int depth)
{
    return verify_chain(peer, "libraries", set, depth);
}

int situation_many(const struct effort *effort)
{
    if (chain_load_many() != 0 || verify_learn(CHAIN_MANY) != 0) {
        return -1;
    }
    return measure_walks(&(struct method){ .situation = "libraries",
                                           .sets = { CHAIN_NOFP, CHAIN_MANY },
                                           .set_count = 2,
                                           .verify = verify,
                                           .run = run_chain },
                         effort);
}
