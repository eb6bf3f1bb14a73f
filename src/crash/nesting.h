/*
 * Tells where a signal interrupted the thread: in its own code, in the handler, or in a previous handler
 * that this one has called. By positions on stacks, without a system call: a filter may answer any
 * system call with yet another signal.
 *
 *     alternate stack, hi
 *         | kernel's frame | handler | previous handler: passed | kernel's frame | handler ...
 *     lo  | guard page, or other memory
 *
 * If sp is below lo, the kernel treats the thread as not on the alternate stack: the next signal starts
 * at hi again. So a previous handler that crashes at each call would loop for ever. It looks like a
 * previous handler that jumped out, which may happen any number of times. So:
 * - On the alternate stack, one more handler needs the room of a report.
 * - An sp near and below lo, after a call of a previous handler that has not returned, is counted. The
 *   limit is low if that sp is in no memory, as in a guard page.
 */
#ifndef SFB_CRASH_NESTING_H
#define SFB_CRASH_NESTING_H

#include <stdbool.h>
#include <stdint.h>

/* A call of a previous handler that has not returned; all 0: no such call. */
struct sfb_nesting_pass {
    uint64_t at; /* the calling frame */
};

/* @return whether a context was interrupted in this handler, by this thread or by one that has ended */
bool sfb_nesting_is_inside(const void *ucontext);

/*
 * Records that the handler runs for a signal, from this frame on down; and its thread, once that is
 * known.
 */
void sfb_nesting_begin(int number, const void *frame, const void *ucontext);
void sfb_nesting_is_of(int thread);

/* @return the signal that the handler runs for */
int sfb_nesting_number(void);

/* Records that the handler has ended. */
void sfb_nesting_end(void);

/* @return the thread recorded in the handler; 0: not yet */
int sfb_nesting_thread(void);

/* @return whether the kernel has started at the top of the stack again, over the handler's frames */
bool sfb_nesting_is_overwritten(const void *frame);

/* @return whether the limit is reached: the process has to end */
bool sfb_nesting_is_spent(const void *ucontext);

/* Records a call of a previous handler. @return the state before, for sfb_nesting_returned() */
struct sfb_nesting_pass sfb_nesting_pass(void);
void sfb_nesting_returned(struct sfb_nesting_pass before);

/* Records a signal sent to the thread while it was in the handler: 1 << number */
void sfb_nesting_defer(int number);
uint32_t sfb_nesting_deferred(void);

/* @return start of the alternate stack that the handler runs on; 0: it is on another stack */
uint64_t sfb_nesting_stack(void);

#endif
