#include "profiler/collector/heap/heap_weight.h"

#include <math.h>

static uint64_t saturated(double value)
{
    return value < 0x1p63 ? (uint64_t)(value + 0.5) : UINT64_C(1) << 63;
}

/* A block of s bytes is sampled with p = 1 - exp(-(s + 1) / rate): it stands for 1 / p blocks. */
struct sfb_heap_weight sfb_heap_weight_sampled(uint64_t size, uint64_t rate)
{
    const double p = -expm1(-((double)size + 1) / (double)rate);
    const double variance = (1 - p) / (p * p), s = (double)size;

    return (struct sfb_heap_weight){
        .blocks = saturated(0x1p16 / p),
        .bytes = saturated(s / p),
        .blocks_variance = saturated(0x1p16 * variance),
        .bytes_variance = saturated(s * s * variance),
    };
}

static uint64_t narrow(sfb_heap_wide value)
{
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

struct sfb_recording_heap_amount sfb_heap_amount(const struct sfb_heap_sum *sum,
                                                 const struct sfb_heap_variance *variance,
                                                 bool sampled)
{
    struct sfb_recording_heap_amount out = { .blocks = sfb_heap_blocks(sum->blocks, sampled),
                                             .bytes = sum->bytes,
                                             .samples = sampled ? sum->samples : sum->blocks };

    if (sampled) {
        out.blocks_variance = narrow(variance->blocks >> SFB_HEAP_UNIT_BITS);
        out.bytes_variance = narrow(variance->bytes);
    }
    return out;
}
