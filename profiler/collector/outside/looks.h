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
#include "sfb/remote.h"

enum { LOOKS_HZ = 100 };

struct looks; /* opaque */

/*
 * @param waits  threads that sleep are looked at as well: look_waits.h
 * @return NULL: no memory
 */
struct looks *looks_open(struct outside *outside, bool waits);

/*
 * Whether a process can be looked at: read, and stopped.
 *
 * @param fault  written if not
 */
bool looks_may(pid_t pid, struct sfb_remote_fault *fault);

/*
 * Sets which processes are looked at from now on. New ones are introduced. The others have ended.
 *
 * @return false: no memory
 */
bool looks_set(struct looks *looks, const pid_t *pids, size_t count, uint64_t now);

/*
 * Nothing is looked at, and no time is recorded, until it is called again: threads are listed alone.
 *
 * Cost: a few reads of /proc for each thread. @return false: the recording cannot be written, or no memory
 */
bool looks_pause(struct looks *looks, bool paused);

/* Looks at all of them. @return false: the recording cannot be written, or no memory */
bool looks_take(struct looks *looks);

/*
 * Switch records: a thread has stopped running, or goes on. With them each wait has its exact time.
 *
 * @param preempted  it would have run on
 */
void looks_switch(struct looks *looks, pid_t pid, pid_t tid, uint64_t time, bool out,
                  bool preempted);

/* Records were lost. */
void looks_lost(struct looks *looks);

/* All records up to a time were given. */
void looks_drained(struct looks *looks, uint64_t time);

/* How often all threads were looked at. */
uint64_t looks_rounds(const struct looks *looks);

/* Processes that no descriptor was left for, at one time. */
uint64_t looks_skipped(const struct looks *looks);

/* How often a thread was stopped. */
uint64_t looks_stops(const struct looks *looks);

/* Records what is left, before the recording ends. */
void looks_end(struct looks *looks);

void looks_close(struct looks *looks);

#endif
