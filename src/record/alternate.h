/*
 * Alternate signal stacks. The agent's handler runs on the thread's, if it has one: stacks of goroutines and the like
 * are small. Where an alternate stack itself is too small for the handler, it runs on the thread's own instead, in all
 * threads of the process.
 */
#ifndef SFB_RECORD_ALTERNATE_H
#define SFB_RECORD_ALTERNATE_H

#include <signal.h>
#include <stdbool.h>

/* Whether the handler may use alternate stacks: none that was seen is too small. Signals: safe. */
bool sfb_alternate_may_be_used(void);

/* A thread uses this one from now on. Signals: safe. */
void sfb_alternate_look(const stack_t *stack);

#endif
