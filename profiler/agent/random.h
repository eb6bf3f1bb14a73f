/*
 * Random numbers of the agents, and the sampling gaps made from them.
 *
 * Threads, signals: safe, each state with one thread.
 */
#ifndef PROFILER_AGENT_RANDOM_H
#define PROFILER_AGENT_RANDOM_H

#include <stdint.h>

/* splitmix64: a bijection on states, with well-mixed output. */
static inline uint64_t sfb_random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* In (0, most], from a seed: neighbouring seeds give unrelated numbers. For phases, not for secrets. */
static inline uint64_t sfb_random_below(uint64_t most, uint64_t seed)
{
    return sfb_random_next(&seed) % most + 1;
}

/*
 * -ln(u) for a u in (0, 1] with 53 bits: the gap to the next sample, in units of the rate.
 *
 * u = m * 2^e with m in [1/sqrt(2), sqrt(2)), and ln(m) = 2 atanh(t) with t = (m - 1) / (m + 1), |t| < 0.172: seven terms
 * leave an error below 1e-13. (libm's log() may set errno.)
 */
static inline double sfb_minus_log(uint64_t bits)
{
    const double ln2 = 0.69314718055994530942;
    const uint64_t value = (bits >> 11) + 1; /* 1 to 2^53 */
    int exponent = 63 - __builtin_clzll(value);
    double m = (double)value / (double)((uint64_t)1 << exponent), t, square, sum = 0;

    if (m > 1.41421356237309504880) {
        m /= 2;
        exponent++;
    }
    t = (m - 1) / (m + 1);
    square = t * t;
    for (int k = 13; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return (53 - exponent) * ln2 - 2 * t * sum;
}

#endif
