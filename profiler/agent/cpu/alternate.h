/*
 * Alternate signal stacks. The agent's handler runs on a thread's alternate stack if it has one: goroutine stacks and the
 * like are small. If an alternate stack is too small for the handler, the handler runs on the threads' own stacks
 * instead, in all threads of the process.
 */
#ifndef PROFILER_AGENT_CPU_ALTERNATE_H
#define PROFILER_AGENT_CPU_ALTERNATE_H

#include <signal.h>
#include <stdbool.h>

/* Whether the handler may use alternate stacks: false after a stack that was too small. Signals: safe. */
bool sfb_alternate_may_be_used(void);

/* Checks an alternate stack that a thread sets. Signals: safe. */
void sfb_alternate_look(const stack_t *stack);

#endif
