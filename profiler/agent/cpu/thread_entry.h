/* The start routine of threads that the program makes. */
#ifndef PROFILER_AGENT_CPU_THREAD_ENTRY_H
#define PROFILER_AGENT_CPU_THREAD_ENTRY_H

typedef void *sfb_thread_routine(void *);

/* The program's routine and argument; not from the heap, valid until the thread has begun. */
struct sfb_thread_start;

/* @return NULL: too many threads are about to begin */
struct sfb_thread_start *sfb_thread_start_take(sfb_thread_routine *routine, void *argument);

/* After a failed pthread_create(). */
void sfb_thread_start_give_back(struct sfb_thread_start *start);

/*
 * Called by sfb_thread_entry() in thread_entry_*.S, the thread's start routine. That one then jumps to the program's
 * routine: no frame of ours stays on the stack.
 *
 * @param start     given back
 * @param argument  written: the program's
 * @return the program's routine
 */
sfb_thread_routine *sfb_thread_entry_begin(struct sfb_thread_start *start, void **argument);

#endif
