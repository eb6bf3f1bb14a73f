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
struct wait_events;

/*
 * @param waits    threads that sleep are looked at as well: look_waits.h
 * @param rate_hz  looks at each thread
 * @param events   with them each wait has its exact time: look_switches.h; borrowed. NULL: none
 * @return NULL: no memory
 */
struct looks *looks_open(struct outside *outside, bool waits, uint32_t rate_hz,
                         struct wait_events *events);

/* A process executes its program from now on, and has its time from here on, before a look finds it. */
void looks_starts(struct looks *looks, pid_t pid);

/*
 * Whether a process can be looked at: read, and stopped.
 *
 * @param fault  written if not
 */
bool looks_may(pid_t pid, struct sfb_remote_fault *fault);

/*
 * Sets which processes are looked at from now on. New ones are introduced. The others have ended.
 *
 * @param whole  false: more than these may live, and the others are asked
 * @return false: no memory
 */
bool looks_set(struct looks *looks, const pid_t *pids, size_t count, bool whole, uint64_t now);

/*
 * Adds a process that has come.
 *
 * @param since  CLOCK_MONOTONIC: it had not come by then
 * @return false: no memory
 */
bool looks_add(struct looks *looks, pid_t pid, uint64_t since, uint64_t now);

/* Whether a process is looked at. */
bool looks_know(const struct looks *looks, pid_t pid);

/*
 * What the children of these processes took that have ended and were waited for since the last call: page faults, and CPU time in ticks. Cost: a
 * read of /proc for each process.
 */
uint64_t looks_reaped(struct looks *looks);

/*
 * Forgets processes that had ended at the last call already: their last records were taken since.
 *
 * @return how many have ended since then
 */
size_t looks_forget_ended(struct looks *looks, uint64_t now);

bool looks_are_paused(const struct looks *looks);

/*
 * Nothing is looked at, and no time is recorded, until it is called again: threads are listed alone.
 *
 * Cost: a few reads of /proc for each thread. @return false: the recording cannot be written, or no memory
 */
bool looks_pause(struct looks *looks, bool paused);

/* Lists threads that have come. Called before their records are taken. @return false: no memory */
bool looks_list(struct looks *looks);

/* Looks at all of them. @return false: the recording cannot be written, or no memory */
bool looks_take(struct looks *looks);

/* Records were lost. */
void looks_lost(struct looks *looks);

/* All records up to a time were given. */
void looks_drained(struct looks *looks, uint64_t time);

/* Whether records came of a process that is not looked at, since looks_set(). */
bool looks_lack_process(const struct looks *looks);

/* How often all threads were looked at. */
uint64_t looks_rounds(const struct looks *looks);

/* Processes that no descriptor was left for, at one time. */
uint64_t looks_skipped(const struct looks *looks);

/* Threads that lack a part of their time: it could not be read at its beginning or end, for want of a descriptor or of memory. */
uint64_t looks_unread(const struct looks *looks);

/* Threads at one time that wait too often for records of it, most. */
uint64_t looks_by_looks(const struct looks *looks);

/* Threads at one time that had no records of their waits for want of a descriptor, or of rights, most. */
uint64_t looks_no_events(const struct looks *looks);

/* How often a thread was stopped. */
uint64_t looks_stops(const struct looks *looks);

/* Records what is left, before the recording ends. */
void looks_end(struct looks *looks);

void looks_close(struct looks *looks);

#endif
