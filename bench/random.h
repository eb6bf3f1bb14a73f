/* Numbers that are the same in every run: two runs measure the same stacks in the same order. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include <assert.h>
#include <stdint.h>

/* @return the next number below limit, which is not 0 */
static inline unsigned random_below(uint64_t *state, unsigned limit)
{
    assert(limit > 0);
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)((*state >> 33) % limit);
}

#endif
