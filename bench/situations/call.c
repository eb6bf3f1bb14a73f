/* One stack again and again: as it is, half of it and all of it without .sframe. */
#include "situations/situation.h"

/* The uncached ones, too: in this stack their cost of a pc is what it was measured as before. */
static bool all(const struct peer *peer)
{
    (void)peer;
    return true;
}

#define VERIFY(name, situation)                                                                    \
    static int name(const struct peer *peer, enum chain_set set, int depth)                        \
    {                                                                                              \
        return verify_chain(peer, situation, set, depth);                                          \
    }
VERIFY(verify_call, "call")
VERIFY(verify_half, "half")
VERIFY(verify_bare, "bare")
VERIFY(verify_plugins, "plugins")

int situation_call(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "call",
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .takes = all,
                                           .verify = verify_call,
                                           .run = run_chain },
                         effort);
}

int situation_half(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "half",
                                           .sets = { CHAIN_FP_HALF, CHAIN_NOFP_HALF },
                                           .set_count = 2,
                                           .verify = verify_half,
                                           .run = run_chain },
                         effort);
}

int situation_bare(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "bare",
                                           .sets = { CHAIN_FP_BARE, CHAIN_NOFP_BARE },
                                           .set_count = 2,
                                           .takes = all,
                                           .verify = verify_bare,
                                           .run = run_chain },
                         effort);
}

int situation_plugins(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "plugins",
                                           .sets = { CHAIN_FP_PLUGIN, CHAIN_NOFP_PLUGIN },
                                           .set_count = 2,
                                           .verify = verify_plugins,
                                           .run = run_chain },
                         effort);
}
