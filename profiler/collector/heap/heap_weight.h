/*
 * The number of blocks that a block stands for. In a sampled heap each sample is made unbiased by itself; then they are
 * summed. A free subtracts exactly what the allocation added: without live blocks the sums are 0.
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_WEIGHT_H
#define PROFILER_COLLECTOR_HEAP_HEAP_WEIGHT_H

#include <stdint.h>

#include "sfb/recording.h"

__extension__ typedef unsigned __int128 sfb_heap_wide;

struct sfb_heap_weight {
    uint64_t blocks; /* in units: one block, or 2^-16 of a block in a sampled heap */
    uint64_t bytes;
    sfb_heap_wide blocks_variance; /* in units, too */
    sfb_heap_wide bytes_variance;
};

enum { SFB_HEAP_UNIT_BITS = 16 };

/* Weight of a block of this size. @param rate  mean bytes between two samples; not 0 */
struct sfb_heap_weight sfb_heap_weight_sampled(uint64_t size, uint64_t rate);

/* @return the bytes that a number of bytes of such a block stands for */
static inline uint64_t sfb_heap_weighed(uint64_t bytes, const struct sfb_heap_weight *weight,
                                        bool sampled)
{
    return sampled ? (uint64_t)((sfb_heap_wide)bytes * weight->blocks >> SFB_HEAP_UNIT_BITS)
                   : bytes;
}

/* Sums of weights, in the same units. */
struct sfb_heap_sum {
    uint64_t blocks, bytes, samples;
};

struct sfb_heap_variance {
    sfb_heap_wide blocks, bytes;
};

/* @param sampled  units are 2^-16 of a block, and there are variances */
struct sfb_recording_heap_amount sfb_heap_amount(const struct sfb_heap_sum *sum,
                                                 const struct sfb_heap_variance *variance,
                                                 bool sampled);

/* Converts units to blocks. */
static inline uint64_t sfb_heap_blocks(uint64_t units, bool sampled)
{
    return sampled ? (units + (1U << (SFB_HEAP_UNIT_BITS - 1))) >> SFB_HEAP_UNIT_BITS : units;
}

/* The class of a size or a lifetime: SFB_HEAP_CLASSES. */
static inline unsigned sfb_heap_class(uint64_t value)
{
    const unsigned bits = value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);

    return bits < SFB_HEAP_CLASSES ? bits : SFB_HEAP_CLASSES - 1;
}

#endif
