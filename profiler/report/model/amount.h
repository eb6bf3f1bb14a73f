/* A sum, with its error where it is an estimate. Sums end at the largest number there is. */
#ifndef PROFILER_REPORT_MODEL_AMOUNT_H
#define PROFILER_REPORT_MODEL_AMOUNT_H

#include <stdint.h>

struct report_amount {
    uint64_t value;
    double variance;  /* of the value: sums have the sum of their parts'; 0: it is exact */
    uint64_t samples; /* that it is made of, where it is an estimate */
};

static inline uint64_t report_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline void report_amount_add(struct report_amount *to, const struct report_amount *more)
{
    to->value = report_saturated(to->value, more->value);
    to->variance += more->variance;
    to->samples = report_saturated(to->samples, more->samples);
}

static inline struct report_amount report_amount_sum(const struct report_amount *a,
                                                     const struct report_amount *b)
{
    struct report_amount sum = *a;

    report_amount_add(&sum, b);
    return sum;
}

/* @return one that is exact */
static inline struct report_amount report_exactly(uint64_t value)
{
    return (struct report_amount){ value, 0.0, 0 };
}

/* @return the nearest number there is */
static inline uint64_t report_rounded(double value)
{
    if (!(value > 0.0))
        return 0;
    return value < 1.8446744073709549e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

#endif
