/* Walks that find nothing in the caches of the processor but what they share with the clock. */
#include "situations/situation.h"

#include "timing.h"

enum { TOUCHED = 6 << 20, LINE = 64, WALKS = 8 };

static uint8_t touched[TOUCHED];

static void touch(void)
{
    for (size_t i = 0; i < TOUCHED; i += LINE) {
        ((volatile uint8_t *)touched)[i]++;
    }
    /* The clock's own code and data come back: they are no part of the walk. */
    timing_now();
}

static int verify(const struct peer *peer, enum chain_set set, int depth)
{
    return verify_chain(peer, "cold", set, depth);
}

static uint64_t run(const struct peer *peer, enum chain_set set, int depth, unsigned count)
{
    uint64_t ns = 0;

    for (; count > 0; count--) {
        peer_batch(&situation_batch, peer, depth, 0, 1);
        situation_batch.before = touch;
        chain_enter(chain_whole(set), peer->leaf, &situation_batch);
        ns += timing_less_clock(situation_batch.ns);
    }
    return ns;
}

int situation_cold(const struct effort *effort)
{
    return measure_walks(&(struct method){ .situation = "cold",
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .verify = verify,
                                           .run = run,
                                           .count = WALKS },
                         effort);
}
