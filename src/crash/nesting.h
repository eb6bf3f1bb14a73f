/*
 * Where a signal came upon the thread: in its own code, in the handler, or in a previous handler
 * that this one has called. Told by positions on stacks, without a system call: a filter may answer
 * any of them with yet another signal.
 *
 *     alternate stack, hi
 *         | kernel's frame | handler | previous handler: passed | kernel's frame | handler ...
 *     lo  | guard page, or what else there is below
 *
 * Once sp is below lo, the kernel does not count it as on the alternate stack any more, and the
 * next signal starts at hi again: a previous handler that crashes whenever it is called would go
 * round for ever. It looks like one that jumped out, which is fine for ever. So
 * - on the alternate stack, one more handler has to find the room that a report takes;
 * - an sp below lo, near it, after a handler was called that has not come back, is counted, and is
 *   over soon if that sp is in no memory, as is so in a guard page.
 */
#ifndef SFB_CRASH_NESTING_H
#define SFB_CRASH_NESTING_H

#include <stdbool.h>
#include <stdint.h>

/* A call of a previous handler that has not come back: all 0 if there is none. */
struct sfb_nesting_pass {
    uint64_t at; /* the calling frame */
};

/* @return whether a context was interrupted in this handler, in this thread or one that is gone */
bool sfb_nesting_is_inside(const void *ucontext);

/*
 * Says that the handler runs, from this frame on down, for a signal; and of which thread, as soon
 * as that is known.
 */
void sfb_nesting_begin(int number, const void *frame, const void *ucontext);
void sfb_nesting_is_of(int thread);

/* @return the signal that the handler runs for */
int sfb_nesting_number(void);

/* The handler is through. */
void sfb_nesting_end(void);

/* @return the thread that was said to be in the handler, 0: none yet */
int sfb_nesting_thread(void);

/* @return whether the kernel has started at the top of the stack again, over the handler's frames */
bool sfb_nesting_is_overwritten(const void *frame);

/* @return whether it has gone on for too long: nothing but an end is left */
bool sfb_nesting_is_spent(const void *ucontext);

/* Leaves the handler for a previous one. @return what was before, for sfb_nesting_returned() */
struct sfb_nesting_pass sfb_nesting_pass(void);
void sfb_nesting_returned(struct sfb_nesting_pass before);

/* Signals that somebody sent to the thread while it was in the handler: 1 << number */
void sfb_nesting_defer(int number);
uint32_t sfb_nesting_deferred(void);

/* Where the alternate stack begins on which the handler runs, 0: on none. */
uint64_t sfb_nesting_stack(void);

#endif
