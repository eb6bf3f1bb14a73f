/*
 * Sampling: memoryless, by bytes. A thread counts down to its next sample, whose distance is exponential with the mean
 * `rate`: a block of s bytes is one with the probability 1 - exp(-(s + 1) / rate), whatever else is allocated.
 *
 * Which live blocks are samples stands in a table of pointers, and before it in a filter of one byte for each of 65,536
 * hashes: it counts the samples that have the hash.
 */
#ifndef SFB_RECORD_HEAP_SAMPLE_H
#define SFB_RECORD_HEAP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The filter of all modes. Where each free() has to be looked at it is one byte that is not 0, with the factor by which all
 * pointers have the same place.
 */
struct sfb_heap_filter {
    uint8_t *count;
    uint64_t factor; /* 0: all have the first place */
};

extern struct sfb_heap_filter sfb_heap_filter;

enum { SFB_HEAP_FILTER_SHIFT = 64 - 16 };

/* Whether a block that is to be freed is none that matters. */
static inline bool sfb_heap_is_no_sample(const void *block)
{
    const uint64_t at = (uintptr_t)block * sfb_heap_filter.factor >> SFB_HEAP_FILTER_SHIFT;

    const uint8_t *count = __atomic_load_n(&sfb_heap_filter.count, __ATOMIC_RELAXED);

    return __atomic_load_n(&count[at], __ATOMIC_RELAXED) == 0;
}

/* Nothing is recorded: no free() has to be looked at, but for blocks of the pool. */
void sfb_heap_pass_all(void);

/* The opposite. */
void sfb_heap_look_at_all(void);

/* Bytes that it maps. */
size_t sfb_heap_samples_size(void);

/* Once, before samples are taken. @return false: no memory */
bool sfb_heap_samples_prepare(void);

/* In the child of fork(): the samples of the parent are nothing here. */
void sfb_heap_samples_forget(void);

/* @return bytes up to the calling thread's next sample */
uint64_t sfb_heap_next_gap(void);

/* Notes that a live block is a sample. @return false: there is no place for it */
bool sfb_heap_sample_add(const void *block);

/* @return whether a block was one. It is none from now on: who asks is about to free it. */
bool sfb_heap_sample_take(const void *block);

#endif
