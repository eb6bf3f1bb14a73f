/*
 * For how much CPU time a sample stands.
 *
 * An event of perf signals in user mode alone: a signal that comes while a thread enters the kernel would make calls such
 * as poll() fail with EINTR. So the kernel's time is seen as periods without a signal. It is owed, and given to the place
 * at which a CPU-time timer finds the thread leaving the kernel: the kernel delivers a timer's signal there, and not before.
 */
#ifndef SFB_RECORD_WEIGHT_H
#define SFB_RECORD_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

struct sfb_weight {
    uint64_t ns;      /* of this sample; 0: it is none */
    uint64_t sampled; /* CPU time up to which all is in a sample, owed or given up */
    uint64_t owed;    /* kernel time that no sample has yet */
    uint32_t engine;  /* whose sample it is */
    bool late;        /* more time has passed than is believed: the rest is never sampled */
};

/*
 * @param engine   whose signal it is
 * @param context  what the signal has interrupted
 * @param cpu      the thread's CPU time
 */
struct sfb_weight sfb_weight_of(struct sfb_thread *thread, enum sfb_recording_engine engine,
                                const void *context, uint64_t cpu);

/* Whether an event of perf samples the thread, and its timer looks for kernel time. */
bool sfb_weight_has_event(const struct sfb_thread *thread);

/* CPU ns between two signals of an event. */
uint64_t sfb_weight_period(void);

#endif
