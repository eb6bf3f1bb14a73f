/*
 * Calls that wait with another mask: sigsuspend(), ppoll() and their like. If that mask lets SIGPROF through, what is for
 * the program comes in the call, and ends it.
 */
#ifndef SFB_RECORD_PROF_WAIT_H
#define SFB_RECORD_PROF_WAIT_H

#include <signal.h>
#include <stdbool.h>

struct sfb_prof_wait {
    bool ours;    /* the agent stands between the program and the signal, and a mask is given */
    bool blocked; /* what the program believed before */
    bool held;    /* the kernel blocks the signal until the call */
};

/* Around the real call, with its mask; NULL: it has none. Keeps errno. Signals: safe. */
void sfb_prof_wait_begin(struct sfb_prof_wait *wait, const sigset_t *mask);
void sfb_prof_wait_end(const struct sfb_prof_wait *wait);

#endif
