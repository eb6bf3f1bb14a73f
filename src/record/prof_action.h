/*
 * The program's own action for SIGPROF, where another one stands in the kernel. Readers and writers take no lock, and a
 * handler may come between: an action is written to a place of its own, which then becomes the current one.
 */
#ifndef SFB_RECORD_PROF_ACTION_H
#define SFB_RECORD_PROF_ACTION_H

#include <signal.h>

/* Signals: safe. */
void sfb_prof_action_get(struct sigaction *out);
void sfb_prof_action_set(const struct sigaction *action);

#endif
