#include "measure.h"

enum {
    VARIED_STACKS = 64,
    VARIED_SEED = 100,
    VARIED_SPARE = 8,
    STACK_SEED = 2,
    ENCODED_DEPTH = 128
};

const struct situation situations[MEASURE_DEPTHS] = {
    { 8, false }, { 32, false }, { 128, false }, { 1000, false }, { 128, true },
};

static struct chain_order whole[CHAIN_BUILDS]; /* all functions, for one stack again and again */
static struct chain_order varied[CHAIN_BUILDS][VARIED_STACKS];
static struct batch batch;
static uint64_t clock_ns; /* what reading the clock adds to a batch */

static int add_chain_stack(struct measurement *m, enum chain_build build, const char *name)
{
    void *addresses[ENCODED_DEPTH];

    if (m->encoded_count == MEASURE_ENCODED_MAX) {
        fprintf(stderr, "bench: more files of stacks than %d\n",
                MEASURE_ENCODED_MAX - CHAIN_BUILDS);
        return -1;
    }
    /* The reference's frames: the encoder's figure does not hang on our own walk. */
    for (unsigned i = 0; i < ENCODED_DEPTH; i++) {
        unsigned number = whole[build].numbers[CHAIN_FUNCTIONS - 1 - i];

        addresses[i] = peer_return_address(build, number);
    }
    return stacks_copy(&m->encoded[m->encoded_count++], name, addresses, ENCODED_DEPTH);
}

int measure_prepare(struct measurement *m)
{
    clock_ns = timing_overhead();
    if (peers_load() != 0) {
        return -1;
    }
    for (enum chain_build b = 0; b < CHAIN_BUILDS; b++) {
        if (chain_load(b) != 0 || peers_learn(b) != 0) {
            return -1;
        }
        chain_order_make(&whole[b], b, CHAIN_FUNCTIONS, STACK_SEED);
        for (unsigned i = 0; i < VARIED_STACKS; i++) {
            chain_order_make(&varied[b][i], b, ENCODED_DEPTH + VARIED_SPARE, VARIED_SEED + i);
        }
    }
    return add_chain_stack(m, CHAIN_FP, "chain, fp") != 0 ||
                   add_chain_stack(m, CHAIN_NOFP, "chain, no fp") != 0
               ? -1
               : 0;
}

static int verify_peer(const struct peer *peer, enum chain_build build)
{
    if (!peer_works(peer, build)) {
        return 0;
    }
    for (unsigned s = 0; s < MEASURE_DEPTHS; s++) {
        unsigned stacks = situations[s].varied ? VARIED_STACKS : 1;

        for (unsigned i = 0; i < stacks; i++) {
            struct chain_order *order = situations[s].varied ? &varied[build][i] : &whole[build];

            if (peer_verify(peer, build, order, situations[s].depth) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

int measure_verify(struct measurement *m)
{
    for (enum chain_build b = 0; b < CHAIN_BUILDS; b++) {
        for (unsigned p = 0; p < PEER_COUNT; p++) {
            if (verify_peer(&peers[p], b) != 0) {
                return -1;
            }
        }
    }
    for (unsigned i = 0; i < m->encoded_count; i++) {
        if (stacks_verify(&m->encoded[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static uint64_t less_clock(uint64_t ns)
{
    return ns > clock_ns ? ns - clock_ns : 0;
}

/* @return ns of one batch */
static uint64_t run(const struct cell *cell, unsigned count)
{
    uint64_t ns = 0;

    if (cell->encoded != NULL) {
        stacks_encode(cell->encoded, 1);
        return less_clock(stacks_encode(cell->encoded, count));
    }
    if (!cell->situation->varied) {
        peer_batch(&batch, cell->situation->depth, 1, count);
        chain_enter(&whole[cell->build], cell->peer->leaf, &batch);
        return less_clock(batch.ns);
    }
    for (; count > 0; count--) {
        for (unsigned i = 0; i < VARIED_STACKS; i++) {
            peer_batch(&batch, cell->situation->depth, 0, 1);
            chain_enter(&varied[cell->build][i], cell->peer->leaf, &batch);
            ns += less_clock(batch.ns);
        }
    }
    return ns;
}

/* Doubles the calls until a batch lasts long enough for the clock. */
static void calibrate(struct cell *cell, uint64_t batch_ns)
{
    cell->count = 1;
    while (run(cell, cell->count) < batch_ns && cell->count < 1U << 24) {
        cell->count *= 2;
    }
}

enum { CELLS_MAX = CHAIN_BUILDS * MEASURE_DEPTHS * PEER_COUNT + MEASURE_ENCODED_MAX };

/* The peers innermost: those that are compared with each other run within a few milliseconds. */
static unsigned list_cells(struct measurement *m, struct cell **cells)
{
    unsigned count = 0;

    for (enum chain_build b = 0; b < CHAIN_BUILDS; b++) {
        for (unsigned s = 0; s < MEASURE_DEPTHS; s++) {
            for (unsigned p = 0; p < PEER_COUNT; p++) {
                struct cell *cell = &m->walks[b][s][p];

                if (!peer_works(&peers[p], b)) {
                    continue;
                }
                cell->peer = &peers[p];
                cell->build = b;
                cell->situation = &situations[s];
                cell->stacks = situations[s].varied ? VARIED_STACKS : 1;
                cell->frames = cell->stacks * situations[s].depth;
                cells[count++] = cell;
            }
        }
    }
    for (unsigned i = 0; i < m->encoded_count; i++) {
        struct cell *cell = &m->encoder[i];

        cell->encoded = &m->encoded[i];
        cell->stacks = (double)m->encoded[i].stack_count;
        cell->frames = (double)m->encoded[i].frame_count;
        cells[count++] = cell;
    }
    return count;
}

void measure_run(struct measurement *m)
{
    struct cell *cells[CELLS_MAX];
    unsigned count = list_cells(m, cells);

    for (unsigned c = 0; c < count; c++) {
        calibrate(cells[c], m->batch_ns);
    }
    for (unsigned s = 0; s < m->samples; s++) {
        for (unsigned c = 0; c < count; c++) {
            cells[c]->samples[s] = (double)run(cells[c], cells[c]->count) / cells[c]->count;
        }
    }
    for (unsigned c = 0; c < count; c++) {
        cells[c]->ns = timing_spread(cells[c]->samples, m->samples);
    }
}

void measure_walks(enum chain_build build, unsigned count)
{
    peer_batch(&batch, 128, 0, count);
    chain_enter(&whole[build], peers[PEER_CBF].leaf, &batch);
}
