/* Writes a sample of the interrupted thread into its ring. */
#ifndef PROFILER_AGENT_CPU_CPU_SAMPLE_H
#define PROFILER_AGENT_CPU_CPU_SAMPLE_H

#include "profiler/agent/cpu/thread.h"

/*
 * Takes a sample; counts it as lost if it cannot be kept. Changes errno.
 *
 * @param engine   source of the signal
 * @param context  ucontext_t of the handler
 *
 * Signals: safe, in a handler that the agent does not interrupt.
 */
void sfb_sample_take(struct sfb_thread *thread, enum sfb_recording_engine engine,
                     const void *context);

#endif
