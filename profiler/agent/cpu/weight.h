/*
 * The CPU time that a sample stands for.
 *
 * An event of perf sends signals in user mode only: a signal on entry to the kernel would make calls such as poll() fail
 * with EINTR. So kernel time shows as periods without a signal. It is owed until a CPU-time timer finds the thread
 * leaving the kernel, and given to that place: the kernel delivers a timer's signal there, not earlier.
 */
#ifndef PROFILER_AGENT_CPU_WEIGHT_H
#define PROFILER_AGENT_CPU_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/agent/cpu/thread.h"

struct sfb_weight {
    uint64_t ns;      /* of this sample; 0: no sample */
    uint64_t sampled; /* CPU time up to which all is sampled, owed or given up */
    uint64_t owed;    /* kernel time that no sample has yet */
    uint32_t engine;  /* the engine of the sample */
    bool late;        /* more time passed than one sample may stand for: the rest stays unsampled */
};

/*
 * @param engine   source of the signal
 * @param context  of the interrupted code
 * @param cpu      the thread's CPU time
 */
struct sfb_weight sfb_weight_of(struct sfb_thread *thread, enum sfb_recording_engine engine,
                                const void *context, uint64_t cpu);

/* Whether a perf event samples the thread, and its timer looks for kernel time. */
bool sfb_weight_has_event(const struct sfb_thread *thread);

/* @return CPU ns between two signals of an event */
uint64_t sfb_weight_period(void);

#endif
