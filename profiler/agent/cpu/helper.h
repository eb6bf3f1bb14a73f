/*
 * The agent's own threads: the sampler, and the reader of the rings in a program that records itself. A process ends with
 * its last thread: a helper must not be that one.
 */
#ifndef PROFILER_AGENT_CPU_HELPER_H
#define PROFILER_AGENT_CPU_HELPER_H

#include <stdbool.h>
#include <stdint.h>

enum sfb_helper { SFB_HELPER_SAMPLER, SFB_HELPER_DRAIN, SFB_HELPER_COUNT };

/* Marks the calling thread as a helper: it is not recorded. */
void sfb_helper_begin(enum sfb_helper which, const char *name);

/*
 * Whether all threads of the program have ended, also the first one, which stays as a zombie. Reads /proc/self/task, at
 * most ten times a second; without /proc: false.
 *
 * @param next  the helper's own, 0 at first: time of the next check
 */
bool sfb_helper_is_alone(uint64_t *next);

/*
 * Called by a helper that is the last thread, before it ends: unblocks signals, so that pending ones of the process are
 * handled.
 */
void sfb_helper_leave(void);

/* In the child of fork(), which has no helpers. */
void sfb_helper_forget_all(void);

#endif
