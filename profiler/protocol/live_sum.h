/*
 * Sums the slots of a live table by stack. If the table samples, a sampled block also stands for unsampled ones: it
 * counts as 1/p blocks and size/p bytes, p = 1 - exp(-(size + 1) / rate). The estimate is unbiased for each block.
 *
 * Trusts no byte of a slot. Allocates nothing. Threads, signals: safe, each with its own.
 */
#ifndef PROFILER_PROTOCOL_LIVE_SUM_H
#define PROFILER_PROTOCOL_LIVE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/protocol/live.h"

/* Doubles: exact for whole numbers up to 2^53. */
struct sfb_live_amount {
    double blocks, bytes;
    double blocks_variance, bytes_variance; /* of the estimates; 0: exact */
    uint64_t samples;                       /* blocks that have a slot */
    uint64_t overruns;                      /* samples with an overwritten tail */
    uint32_t before;                        /* generation of the stack before slots were read */
    uint32_t generation;                    /* last bits of the one that the samples name */
};

struct sfb_live_sum {
    struct sfb_live_amount *of; /* by stack id; [0]: blocks without a stack */
    uint32_t stacks;            /* elements of `of`; a larger id is bad */
    struct sfb_live_amount all; /* set by sfb_live_sum_end() */
    uint64_t changed; /* slots left out: they or their stacks changed while they were read */
    uint64_t bad;     /* slots that contradict themselves: the map was overwritten */
};

/* Probability that a block of a size is sampled. Level 0: 1. */
double sfb_live_probability(uint64_t size, uint32_t level);

/* Rounds to a count; saturates. */
uint64_t sfb_live_count(double value);

/* Notes the generation of each stack. Before the first slot is read. @param count  at most sum->stacks */
void sfb_live_sum_begin(struct sfb_live_sum *sum, const struct sfb_live_stack *stacks,
                        uint32_t count);

/*
 * Adds a live slot. Slots are added in the order in which they were read: if one names a later generation of its stack, the
 * blocks of the earlier one were freed.
 */
void sfb_live_sum_add(struct sfb_live_sum *sum, struct sfb_live_slot slot);

/* A live slot was added, and its block has no tail of ours. Bypassed: it is taken out of the sum again. */
void sfb_live_sum_untailed(struct sfb_live_sum *sum, struct sfb_live_slot slot, bool bypassed);

/* Adds slots of a map that may change meanwhile: reads each twice and leaves it out if it changed. */
void sfb_live_sum_slots(struct sfb_live_sum *sum, const struct sfb_live_slot *slots,
                        uint32_t count);

/* Whether the slots name a stack. @param state  of the stack, read after the slots */
bool sfb_live_sum_is_of(const struct sfb_live_amount *amount, uint32_t state);

/* Leaves a stack's slots out: it was freed. Before sfb_live_sum_end(). */
void sfb_live_sum_forget(struct sfb_live_sum *sum, uint32_t stack);

/* Leaves all slots out. The generations that were noted stay. */
void sfb_live_sum_clear(struct sfb_live_sum *sum);

/* Sums the first stacks up in `all`. */
void sfb_live_sum_end(struct sfb_live_sum *sum, uint32_t count);

#endif
