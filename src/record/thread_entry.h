/* Where a thread begins that the program makes. */
#ifndef SFB_RECORD_THREAD_ENTRY_H
#define SFB_RECORD_THREAD_ENTRY_H

typedef void *sfb_thread_routine(void *);

/* What the program wanted to run: not from the heap, and there until the thread has begun. */
struct sfb_thread_start;

/* @return NULL: too many threads are about to begin */
struct sfb_thread_start *sfb_thread_start_take(sfb_thread_routine *routine, void *argument);

/* The thread could not be made. */
void sfb_thread_start_give_back(struct sfb_thread_start *start);

/*
 * Called by sfb_thread_entry() in thread_entry_*.S, the routine of the thread. That one then jumps to the program's, so
 * that no frame of ours stays on the stack.
 *
 * @param start     given back
 * @param argument  written: the program's
 * @return the program's routine
 */
sfb_thread_routine *sfb_thread_entry_begin(struct sfb_thread_start *start, void **argument);

#endif
