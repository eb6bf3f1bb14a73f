/* The events of a recorded heap again: what lived at an instant, and what a sample of it stands for. */
#ifndef PROFILER_REPORT_MODEL_REPLAY_H
#define PROFILER_REPORT_MODEL_REPLAY_H

#include "profiler/report/model/amount.h"
#include "profiler/report/model/data_heap.h"

/* Blocks of one size of one site. */
struct report_replayed {
    uint64_t allocated, freed;
    uint64_t least; /* that lived at any instant of the tail */
};

struct report_replay {
    struct report_replayed *at; /* of each pair */
};

/* @return blocks that live */
static inline uint64_t report_replayed_live(const struct report_replayed *r)
{
    return r->allocated > r->freed ? r->allocated - r->freed : 0;
}

/* Up to a time, the events of its mark included. @return false: no memory; out is to be freed in any case */
bool report_replay_until(struct report_replay *out, const struct report_heap_data *heap,
                         uint64_t time);

/* Each process up to the instant at which most bytes lived. */
bool report_replay_peaks(struct report_replay *out, const struct report_heap_data *heap);

/*
 * Replays all events. `least`: fewest blocks alive at any instant of the heap's tail.
 *
 * @param tails  by heap: time at which its tail begins
 */
bool report_replay_tails(struct report_replay *out, const struct report_heap_data *heap,
                         const uint64_t *tails);

void report_replay_free(struct report_replay *replay);

/*
 * What blocks stand for that were sampled with a probability that grows with their size: 1 / p blocks each.
 *
 * @param rate  mean bytes between two samples; 0: all were seen
 */
void report_estimate(uint64_t rate, uint64_t size, uint64_t count, struct report_amount *blocks,
                     struct report_amount *bytes);

/* Adds what was replayed of a pair to the totals of its site. */
void report_replay_add(struct sfb_recording_heap_totals *to, uint64_t rate, uint64_t size,
                       const struct report_replayed *end, const struct report_replayed *peak);

#endif
