/*
 * The engine TIMER: a CPU-time timer per thread. The kernel checks these timers only at its tick.
 *
 * Uses raw system calls: the C library's timer_create() allocates in some versions. Signals: safe.
 */
#ifndef PROFILER_AGENT_CPU_TIMER_H
#define PROFILER_AGENT_CPU_TIMER_H

#include "profiler/agent/cpu/thread.h"

/*
 * Starts the timer of a thread, the calling one or another one of the process, if the recorder allows this engine. The
 * value of its signals is the address of `thread`.
 */
void sfb_timer_start(struct sfb_thread *thread);

/*
 * For a thread sampled by an event. While kernel time is owed, the timer fires at each tick. Else it fires after some
 * periods without a signal of the event.
 *
 * @param period  of the event
 */
void sfb_timer_look_for_kernel(struct sfb_thread *thread, bool owed, uint64_t period);

/* Stops the timer, and keeps it. */
void sfb_timer_disarm(struct sfb_thread *thread);

/* A signal of the timer may still be under way. */
void sfb_timer_delete(struct sfb_thread *thread);

#endif
