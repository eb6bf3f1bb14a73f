#include "verify.h"

#include "sfb/cbf.h"

static int refuse(const struct peer *peer, const char *where, int depth, const char *why,
                  long number)
{
    fprintf(stderr, "bench: %s, %s, depth %d: %s (%ld)\n", peer->name, where, depth, why, number);
    return -1;
}

/* @return whether an address lies in a function of which only the start is known */
static bool lies_in(enum chain_set set, unsigned number, const void *address)
{
    const struct chain_loaded *loaded = chain_loaded(set);
    uintptr_t start = (uintptr_t)loaded->functions[number];

    if ((uintptr_t)address <= start) {
        return false;
    }
    for (size_t i = 0; i < chain_count(set); i++) {
        uintptr_t other = (uintptr_t)loaded->functions[i];

        if (other > start && other < (uintptr_t)address) {
            return false;
        }
    }
    return true;
}

int verify_learn(enum chain_set set)
{
    static struct batch batch;
    static struct chain_order order;
    const struct peer *reference = &peers[chain_loaded(set)->frame_pointers ? PEER_FP_MINIMAL
                                          : peers_libunwind()               ? PEER_UNW_STEP
                                                                            : PEER_GLIBC];
    const char *name = chain_loaded(set)->name;
    int count = (int)chain_count(set);

    chain_order_make(&order, set, (size_t)count, 1);
    peer_batch(&batch, reference, count + 1, 0, 1);
    chain_enter(&order, reference->leaf, &batch);
    if (batch.result != count + 1) {
        return refuse(reference, name, count + 1, "the reference has fewer frames", batch.result);
    }
    for (int i = 0; i < count; i++) {
        unsigned number = order.numbers[count - 1 - i];

        if (!lies_in(set, number, batch.addresses[1 + i])) {
            return refuse(reference, name, count + 1, "not in the function that was called", 1 + i);
        }
        chain_loaded(set)->return_addresses[number] = batch.addresses[1 + i];
    }
    return 0;
}

static void expect(struct expected *out, struct spot spot)
{
    if (out->count < sizeof out->spots / sizeof *out->spots) {
        out->spots[out->count++] = spot;
    }
}

void expect_code(struct expected *out, const char *start, const char *stop)
{
    expect(out, (struct spot){ .after = (uintptr_t)start, .upto = (uintptr_t)stop });
}

void expect_anything(struct expected *out)
{
    expect(out, (struct spot){ .after = 0, .upto = UINTPTR_MAX });
}

void expect_order(struct expected *out, const struct chain_order *order)
{
    const struct chain_loaded *set = chain_loaded(order->set);

    for (size_t i = order->count; i-- > 0;) {
        uintptr_t address = (uintptr_t)set->return_addresses[order->numbers[i]];

        expect(out, (struct spot){ .after = address - 1,
                                   .upto = address,
                                   .bare = set->bare[order->numbers[i]] });
    }
}

/* CBF to the addresses that the other peers answer in. @return the frames, or -1: it is not good */
static ssize_t decode(struct batch *batch)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_EXPAND };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;
    ssize_t frames = 0;

    if (batch->result < 0 || sfb_cbf_decoder_init(&decoder, batch->cbf, (size_t)batch->result,
                                                  &options, NULL) != SFB_OK) {
        return -1;
    }
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        enum sfb_frame_kind kind =
            frames == 0 && batch->context != NULL ? SFB_FRAME_PC : SFB_FRAME_RA;

        if (item.kind != kind || item.count != 1 || frames > CHAIN_FUNCTIONS) {
            return -1;
        }
        batch->addresses[frames++] = (void *)(uintptr_t)item.value;
    }
    return status == SFB_END && sfb_cbf_decoder_truncated(&decoder) ? frames : -1;
}

/* Each frame is found by the tables of the code that it called. */
static bool sources_good(const struct batch *batch, const struct expected *expected)
{
    uint32_t sframe = 0;
    uint32_t eh_frame = 0;

    for (int i = 0; i + 1 < batch->depth; i++) {
        if (expected->spots[i].bare) {
            eh_frame++;
        } else {
            sframe++;
        }
    }
    return batch->info->by_source[SFB_SOURCE_SFRAME] == sframe &&
           batch->info->by_source[SFB_SOURCE_EH_FRAME] == eh_frame;
}

int verify_result(const struct peer *peer, const char *where, struct batch *batch,
                  const struct expected *expected)
{
    ssize_t frames = peer->cbf ? decode(batch) : batch->result;

    if (peer->id == PEER_NOTHING) {
        return 0;
    }
    if (frames != batch->depth || expected->count < (size_t)frames + batch->skip) {
        return refuse(peer, where, batch->depth, "wrong number of frames", (long)frames);
    }
    if (peer->cbf && batch->info != NULL && !sources_good(batch, expected)) {
        return refuse(peer, where, batch->depth, "frames found by .sframe",
                      batch->info->by_source[SFB_SOURCE_SFRAME]);
    }
    for (int i = 0; i < batch->depth; i++) {
        uintptr_t address = (uintptr_t)batch->addresses[i];

        const struct spot *spot = &expected->spots[(unsigned)i + batch->skip];

        if (address <= spot->after || address > spot->upto) {
            return refuse(peer, where, batch->depth, "a frame that the reference does not have", i);
        }
    }
    return 0;
}
