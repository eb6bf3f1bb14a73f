/*
 * The engine TIMER: a CPU-time timer for each thread. The kernel looks at them at its tick only.
 *
 * The kernel's own calls: the C library's timer_create() allocates in some versions. Signals: safe.
 */
#ifndef SFB_RECORD_TIMER_H
#define SFB_RECORD_TIMER_H

#include "record/thread.h"

/*
 * Starts the timer of a thread, its own or another one of the process, if the recorder allows that engine. Its signals
 * have the thread's address as their value.
 */
void sfb_timer_start(struct sfb_thread *thread);

/*
 * Where an event samples the thread: fires at each tick while kernel time is owed, else when no signal of the event has
 * come for some periods.
 *
 * @param period  of the event
 */
void sfb_timer_look_for_kernel(struct sfb_thread *thread, bool owed, uint64_t period);

/* It stays there, and fires no more. */
void sfb_timer_disarm(struct sfb_thread *thread);

/* A signal of it may still be under way. */
void sfb_timer_delete(struct sfb_thread *thread);

#endif
