/*
 * The clock of heap records, for recorder and agents: the processor's counter, or CLOCK_MONOTONIC where the counter is
 * unreliable. Reading the counter takes a third of the time of clock_gettime().
 */
#ifndef PROFILER_PROTOCOL_COUNTER_H
#define PROFILER_PROTOCOL_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "sfb/context.h"

/* True if the kernel itself trusts the counter: synchronised over all processors, at a constant rate. */
bool sfb_counter_may_be_used(void);

#if SFB_CONTEXT_X86_64
static inline uint64_t sfb_counter_read_processor(void)
{
    return __builtin_ia32_rdtsc();
}
#elif SFB_CONTEXT_AARCH64
static inline uint64_t sfb_counter_read_processor(void)
{
    uint64_t value;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#endif

/* @param processor  the processor's counter; else ns. Signals: safe. */
static inline uint64_t sfb_counter_read(bool processor)
{
    struct timespec t;

    if (processor)
        return sfb_counter_read_processor();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

#endif
