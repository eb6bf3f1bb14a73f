/*
 * The clock of heap records: the processor's counter, which is read in a third of the time that clock_gettime() takes,
 * or CLOCK_MONOTONIC where that counter is no clock. (Recorder and agents.)
 */
#ifndef RECORDER_COUNTER_H
#define RECORDER_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "sfb/context.h"

/* Whether the kernel itself trusts the counter: the same on all processors, and never changing its pace. */
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
