/*
 * Threads of the agent's own: the sampler, and the one that reads the rings in a program that records itself. A program
 * ends with its last thread; theirs must not be the last.
 */
#ifndef SFB_RECORD_HELPER_H
#define SFB_RECORD_HELPER_H

#include <stdbool.h>
#include <stdint.h>

enum sfb_helper { SFB_HELPER_SAMPLER, SFB_HELPER_DRAIN, SFB_HELPER_COUNT };

/* The calling thread is one: it is not recorded. */
void sfb_helper_begin(enum sfb_helper which, const char *name);

/*
 * Whether the program's own threads have all ended: the first one, which stays as a zombie, included. Reads
 * /proc/self/task, ten times a second at most; without it: never.
 *
 * @param next  the helper's own, 0 at first: when it looks again
 */
bool sfb_helper_is_alone(uint64_t *next);

/* It is the program's last thread, and ends: what waits for the process is handled here, as in any other last thread. */
void sfb_helper_leave(void);

/* In the child of fork(), which has none of them. */
void sfb_helper_forget_all(void);

#endif
