/*
 * Looks at processes where no perf event is to be had: a hundred times a second the threads that run are stopped for a
 * moment, one after the other, and registers and stack are copied. Threads that sleep are not touched. Between two looks is a
 * random time, so that no timer of the program keeps step with them.
 *
 * A thread's sample has the weight of the CPU time that it has used since its last one.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOKS_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOKS_H

#include <sys/types.h>

#include "profiler/collector/outside/outside.h"

enum { LOOKS_HZ = 100 };

struct looks; /* opaque */

/* @return NULL: no memory */
struct looks *looks_open(struct outside *outside);

/* Whether a process can be looked at: read, and stopped. */
bool looks_may(pid_t pid);

/*
 * Sets which processes are looked at from now on. New ones are introduced. The others have ended.
 *
 * @return false: no memory
 */
bool looks_set(struct looks *looks, const pid_t *pids, size_t count, uint64_t now);

/* Looks at all of them. @return false: the recording cannot be written, or no memory */
bool looks_take(struct looks *looks);

/* How often a thread was stopped. */
uint64_t looks_stops(const struct looks *looks);

void looks_close(struct looks *looks);

#endif
