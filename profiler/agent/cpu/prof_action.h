/*
 * The program's own action for SIGPROF; the kernel has the agent's. Readers and writers take no lock, and a handler may
 * interrupt them. So an action is written to a free place, which then becomes the current one.
 */
#ifndef PROFILER_AGENT_CPU_PROF_ACTION_H
#define PROFILER_AGENT_CPU_PROF_ACTION_H

#include <signal.h>

/* Signals: safe. */
void sfb_prof_action_get(struct sigaction *out);
void sfb_prof_action_set(const struct sigaction *action);

#endif
