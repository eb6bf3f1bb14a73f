/* The CBF encoder without a walk. */
#include "situations/situation.h"

#include "stacks.h"
#include "timing.h"

enum { DEPTH = 128, BATCHES_MAX = 101 };

static int measure(const struct effort *effort, struct stacks *stacks)
{
    double samples[BATCHES_MAX];
    unsigned batches = effort->batches < BATCHES_MAX ? effort->batches : BATCHES_MAX;
    unsigned count = 1;

    if (stacks_verify(stacks) != 0) {
        return -1;
    }
    if (effort->smoke) {
        return 0;
    }
    while (stacks_encode(stacks, count) < effort->batch_ns) {
        count *= 2;
    }
    for (unsigned b = 0; b < batches; b++) {
        stacks_encode(stacks, 1);
        samples[b] = (double)stacks_encode(stacks, count) / count / (double)stacks->frame_count;
    }
    record("encoder", "ns a frame", stacks->name, timing_spread(samples, batches).median);
    record("encoder", "bytes a frame", stacks->name,
           (double)stacks->cbf_size / (double)stacks->frame_count);
    return 0;
}

int situation_encoder(const struct effort *effort)
{
    static struct stacks stacks;

    for (enum chain_set s = CHAIN_FP; s <= CHAIN_NOFP; s++) {
        const struct chain_order *whole = chain_whole(s);
        void *addresses[DEPTH];

        /* The reference's frames: the encoder's figure does not hang on our own walk. */
        for (size_t i = 0; i < DEPTH; i++) {
            addresses[i] = chain_loaded(s)->return_addresses[whole->numbers[whole->count - 1 - i]];
        }
        stacks_copy(&stacks, s == CHAIN_FP ? "this chain, fp" : "this chain, nofp", addresses,
                    DEPTH);
        if (measure(effort, &stacks) != 0) {
            return -1;
        }
    }
    for (char **path = effort->stacks; *path != NULL; path++) {
        if (stacks_read(&stacks, *path) != 0 || measure(effort, &stacks) != 0) {
            return -1;
        }
    }
    return 0;
}
