/* The round-robin. */
#include "situations/situation.h"

#include <stdio.h>
#include <string.h>

#include "timing.h"

enum { BATCHES_MAX = 101 };

struct batch situation_batch;

void record(const char *situation, const char *column, const char *row, double value)
{
    printf("%s\t%s\t%s\t%.6g\n", situation, column, row, value);
}

void record_at(const char *situation, enum chain_set set, int depth, const char *row, double value)
{
    char column[32];

    snprintf(column, sizeof column, "%s %d", chain_loaded(set)->name, depth);
    record(situation, column, row, value);
}

void record_skipped(const char *situation, const char *why)
{
    printf("%s\tskipped\t%s\t0\n", situation, why);
}

/* One peer at one depth of a set. */
struct cell {
    const struct peer *peer;
    unsigned count; /* walks in a batch */
    double samples[BATCHES_MAX];
};

static uint64_t run(const struct method *m, const struct cell *cell, enum chain_set set, int depth,
                    unsigned count)
{
    uint64_t ns;

    if (cell->peer->prepare != NULL) {
        cell->peer->prepare(true);
    }
    ns = m->run(cell->peer, set, depth, count);
    if (cell->peer->prepare != NULL) {
        cell->peer->prepare(false);
    }
    return ns;
}

/* Doubles the walks until a batch lasts long enough for the clock. */
static void calibrate(const struct method *m, struct cell *cell, enum chain_set set, int depth,
                      uint64_t batch_ns)
{
    cell->count = m->count > 0 ? m->count : 1;
    while (m->count == 0 && cell->count < 1U << 24 &&
           run(m, cell, set, depth, cell->count) < batch_ns) {
        cell->count *= 2;
    }
}

static unsigned list(const struct method *m, enum chain_set set, struct cell *cells)
{
    unsigned count = 0;

    for (unsigned p = 0; p < PEER_COUNT; p++) {
        bool taken = p == PEER_NOTHING  ? m->less_nothing
                     : m->takes != NULL ? m->takes(&peers[p])
                                        : p != PEER_UNW_UNCACHED;

        if (taken && peer_works(&peers[p], set)) {
            cells[count++].peer = &peers[p];
        }
    }
    return count;
}

static int verify(const struct method *m, const struct cell *cells, unsigned count,
                  enum chain_set set, int depth)
{
    for (unsigned c = 0; c < count; c++) {
        if (cells[c].peer->id != PEER_NOTHING && m->verify(cells[c].peer, set, depth) != 0) {
            return -1;
        }
    }
    return 0;
}

static int measure(const struct method *m, const struct effort *effort, enum chain_set set,
                   int depth)
{
    static struct cell cells[PEER_COUNT];
    unsigned batches = effort->batches < BATCHES_MAX ? effort->batches : BATCHES_MAX;
    unsigned count = list(m, set, cells);
    double nothing = 0;

    if ((m->begin != NULL && m->begin(set, depth) != 0) ||
        verify(m, cells, count, set, depth) != 0) {
        return -1;
    }
    if (effort->smoke) {
        return 0;
    }
    for (unsigned c = 0; c < count; c++) {
        calibrate(m, &cells[c], set, depth, effort->batch_ns);
    }
    for (unsigned b = 0; b < batches; b++) {
        for (unsigned c = 0; c < count; c++) {
            uint64_t ns = run(m, &cells[c], set, depth, cells[c].count);

            cells[c].samples[b] = (double)ns / cells[c].count / depth;
        }
    }
    if (verify(m, cells, count, set, depth) != 0) {
        return -1;
    }
    /* `nothing` is the last peer, and the first that has to be known. */
    for (unsigned c = count; c-- > 0;) {
        double median = timing_spread(cells[c].samples, batches).median;

        if (cells[c].peer->id == PEER_NOTHING) {
            nothing = median;
            record_at(m->situation, set, depth, cells[c].peer->name, median);
        } else {
            record_at(m->situation, set, depth, cells[c].peer->name, median - nothing);
        }
    }
    return 0;
}

static int walk_only(const struct method *m, const struct counted *counted)
{
    for (unsigned s = 0; s < m->set_count; s++) {
        if (strcmp(chain_loaded(m->sets[s])->name, counted->set) != 0) {
            continue;
        }
        if (m->begin != NULL && m->begin(m->sets[s], counted->depth) != 0) {
            return -1;
        }
        m->run(counted->peer, m->sets[s], counted->depth, counted->count);
    }
    return 0;
}

int measure_walks(const struct method *m, const struct effort *effort)
{
    const int *depth = m->only_depth ? &m->only_depth : depths;
    unsigned count = m->only_depth ? 1 : DEPTHS;

    if (effort->counted != NULL) {
        return walk_only(m, effort->counted);
    }
    for (unsigned s = 0; s < m->set_count; s++) {
        for (unsigned d = 0; d < count; d++) {
            if (measure(m, effort, m->sets[s], depth[d]) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

int verify_chain(const struct peer *peer, const char *situation, enum chain_set set, int depth)
{
    static struct expected expected;
    struct sframe_backtrace_info info = { .size = sizeof info };

    expected.count = 0;
    expect_code(&expected, peer->leaf_start, peer->leaf_stop);
    expect_order(&expected, chain_whole(set));
    peer_batch(&situation_batch, peer, depth, 0, 1);
    situation_batch.info = &info;
    chain_enter(chain_whole(set), peer->leaf, &situation_batch);
    return verify_result(peer, situation, &situation_batch, &expected);
}

uint64_t run_chain(const struct peer *peer, enum chain_set set, int depth, unsigned count)
{
    peer_batch(&situation_batch, peer, depth, 1, count);
    chain_enter(chain_whole(set), peer->leaf, &situation_batch);
    return situation_batch.ns;
}
