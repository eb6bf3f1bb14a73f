/*
 * Sampling: memoryless, by bytes. A thread counts down to its next sample; the gaps are exponential with the mean `rate`.
 * A block of s bytes is sampled with the probability 1 - exp(-(s + 1) / rate), independent of other allocations.
 *
 * Live samples are kept in a table of pointers. Filters in front of it have one-byte counters, indexed by hash, of the
 * samples with that hash. The first has 2,048, which stay in the first cache however many blocks live; the second has
 * 65,536, and is read if the first one's counter is not 0.
 */
#ifndef PROFILER_AGENT_HEAP_HEAP_SAMPLE_H
#define PROFILER_AGENT_HEAP_HEAP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The filter in all modes. If every free() takes the slow path, it is one non-zero byte, and factor 0 maps all pointers
 * to it.
 */
struct sfb_heap_filter {
    uint8_t *count;  /* of the first filter */
    uint8_t *second; /* read if `count` is of samples */
    uint64_t factor; /* 0: all pointers share the first counter */
};

extern struct sfb_heap_filter sfb_heap_filter;

enum { SFB_HEAP_FILTER_SHIFT = 64 - 11, SFB_HEAP_SECOND_SHIFT = 64 - 16 };

/* Whether a block about to be freed is certainly no sample. */
static inline bool sfb_heap_is_no_sample(const void *block)
{
    const uint64_t hash = (uintptr_t)block * sfb_heap_filter.factor;
    const uint8_t *count = __atomic_load_n(&sfb_heap_filter.count, __ATOMIC_RELAXED);

    return __atomic_load_n(&count[hash >> SFB_HEAP_FILTER_SHIFT], __ATOMIC_RELAXED) == 0 ||
           __atomic_load_n(&sfb_heap_filter.second[hash >> SFB_HEAP_SECOND_SHIFT],
                           __ATOMIC_RELAXED) == 0;
}

/* No recording: free() takes the fast path, unless the pool was used. */
void sfb_heap_pass_all(void);

/* Every free() takes the slow path. */
void sfb_heap_look_at_all(void);

/* @return bytes that sfb_heap_samples_prepare() maps */
size_t sfb_heap_samples_size(void);

/* Called once, before the first sample. @return false: no memory */
bool sfb_heap_samples_prepare(void);

/* In the child of fork(): drops the parent's samples. */
void sfb_heap_samples_forget(void);

/* @return bytes until the calling thread's next sample */
uint64_t sfb_heap_next_gap(void);

/* Adds a live block to the samples. @return false: no free entry */
bool sfb_heap_sample_add(const void *block);

/* Removes a block that is about to be freed. @return whether it was a sample */
bool sfb_heap_sample_take(const void *block);

#endif
