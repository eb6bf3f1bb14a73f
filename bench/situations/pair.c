/* Two threads at once, each on a CPU of its own: what they share shows. */
#include "situations/situation.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "machine.h"

/* The other thread: walks in small batches for as long as it is told to. */
static struct {
    pthread_t id;
    const struct peer *peer;
    struct chain_order order;
    int depth;
    atomic_bool stop;
    atomic_uint batches;
    struct batch batch;
} other;

static void *keep_walking(void *argument)
{
    /* So few that it stops soon, so many that entering the chain takes little of the time. */
    unsigned step = 1 + (unsigned)(4096 / other.depth);

    (void)argument;
    while (!atomic_load_explicit(&other.stop, memory_order_relaxed)) {
        peer_batch(&other.batch, other.peer, other.depth, 0, step);
        chain_enter(&other.order, other.peer->leaf, &other.batch);
        atomic_fetch_add_explicit(&other.batches, 1, memory_order_relaxed);
    }
    return NULL;
}

static int verify(const struct peer *peer, enum chain_set set, int depth)
{
    return verify_chain(peer, "pair", set, depth);
}

static uint64_t run(const struct peer *peer, enum chain_set set, int depth, unsigned count)
{
    uint64_t ns;

    other.peer = peer;
    other.depth = depth;
    other.order = *chain_whole(set);
    atomic_store(&other.stop, false);
    atomic_store(&other.batches, 0);
    if (machine_start_elsewhere(&other.id, keep_walking) != 0) {
        return UINT64_MAX;
    }
    while (atomic_load(&other.batches) == 0) {
        sched_yield();
    }
    ns = run_chain(peer, set, depth, count);
    atomic_store(&other.stop, true);
    pthread_join(other.id, NULL);
    return ns;
}

int situation_pair(const struct effort *effort)
{
    if (!machine_has_two()) {
        record_skipped("pair", "there is one CPU only");
        return 0;
    }
    return measure_walks(&(struct method){ .situation = "pair",
                                           .sets = { CHAIN_FP, CHAIN_NOFP },
                                           .set_count = 2,
                                           .verify = verify,
                                           .run = run },
                         effort);
}
