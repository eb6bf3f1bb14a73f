/*
 * What lives, by stack: the slots of a live table added up. Where the table samples, each block stands for those that
 * were not taken: 1/p blocks and size/p bytes, p = 1 - exp(-(size + 1) / rate). Unbiased a block at a time.
 *
 * Trusts no byte of a slot. Allocates nothing. Threads, signals: safe, each with its own.
 */
#ifndef SFB_RECORDER_LIVE_SUM_H
#define SFB_RECORDER_LIVE_SUM_H

#include <stdint.h>

#include "recorder/live.h"

/* Whole numbers up to 2^53 are exact in a double. */
struct sfb_live_amount {
    double blocks, bytes;
    double blocks_variance, bytes_variance; /* of the estimates; 0: exact */
    uint64_t samples;                       /* blocks that have a slot */
    uint64_t overruns;                      /* of them, those whose tail is overwritten */
};

struct sfb_live_sum {
    struct sfb_live_amount *of; /* by stack id; [0]: blocks without a stack */
    uint32_t units;             /* elements there; a larger id is bad */
    struct sfb_live_amount all;
    uint64_t changed; /* slots that changed while they were read: left out */
    uint64_t bad;     /* slots that contradict themselves: the map was overwritten */
};

/* How likely a block of a size is taken. Level 0: 1. */
double sfb_live_probability(uint64_t size, uint32_t level);

/* A double as a count, rounded; what does not fit is the most that does. */
uint64_t sfb_live_count(double value);

/* -ln(u) of a random number, u in (0, 1]: what is behind the next sample, in units of the rate. */
double sfb_live_gap(uint64_t random);

/* Adds a slot that is live. */
void sfb_live_sum_add(struct sfb_live_sum *sum, struct sfb_live_slot slot);

/* Adds slots of a map that may be written meanwhile: each is read twice, and left out if it changed. */
void sfb_live_sum_slots(struct sfb_live_sum *sum, const struct sfb_live_slot *slots,
                        uint32_t count);

#endif
