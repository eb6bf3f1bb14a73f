/*
 * Calls that wait with another mask: sigsuspend(), ppoll() and the like. If that mask unblocks SIGPROF, the program's
 * signal arrives during the call and ends it.
 */
#ifndef PROFILER_AGENT_CPU_PROF_WAIT_H
#define PROFILER_AGENT_CPU_PROF_WAIT_H

#include <signal.h>
#include <stdbool.h>

struct sfb_prof_wait {
    bool ours;    /* a mask is given, and the agent handles the signal */
    bool blocked; /* the program had it blocked before */
    bool held;    /* the kernel blocks the signal until the call */
};

/* Called around the real call, with its mask or NULL. Keeps errno. Signals: safe. */
void sfb_prof_wait_begin(struct sfb_prof_wait *wait, const sigset_t *mask);
void sfb_prof_wait_end(const struct sfb_prof_wait *wait);

#endif
