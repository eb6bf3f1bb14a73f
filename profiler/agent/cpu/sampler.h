/*
 * The engine SAMPLER: a thread that reads the CPU clocks of the others, and sends a signal to those with new CPU time. It
 * is started only if a thread has no timer, because programs can see it.
 */
#ifndef PROFILER_AGENT_CPU_SAMPLER_H
#define PROFILER_AGENT_CPU_SAMPLER_H

/* Starts the sampler if a thread needs it and it does not run. Not for handlers. */
void sfb_sampler_start_if_needed(void);

#endif
