/* A thread takes its ring and its timer, and gives them back. */
#ifndef PROFILER_AGENT_CPU_THREAD_LIFE_H
#define PROFILER_AGENT_CPU_THREAD_LIFE_H

#include <stdint.h>
#include <sys/types.h>

#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/space.h"

/*
 * Takes a ring for the calling thread.
 *
 * @param cpu_start  its CPU time at which its recording begins
 * @return NULL: no ring left, and counted
 *
 * Signals: safe.
 */
struct sfb_thread *sfb_thread_begin(uint64_t cpu_start);

/*
 * @return the calling thread's ring; NULL: none known. Forgets the ring of an earlier recording, which another thread may
 *         have by now.
 *
 * Signals: safe.
 */
struct sfb_thread *sfb_thread_own(void);

/*
 * Takes a ring for another thread of this process. That thread finds it at its first signal.
 *
 * Signals: safe.
 */
struct sfb_thread *sfb_thread_begin_other(pid_t tid, uint64_t cpu_start);

/* @return the thread of this process with this tid and a ring; NULL: no such thread */
struct sfb_thread *sfb_thread_of(pid_t tid);

/* Memory that the CPU agent needs besides the shared memory. */
extern const struct sfb_space_kind sfb_thread_space;

/* Ends a thread: it is not sampled any more, and its CPU time is written. Later calls do nothing. */
void sfb_thread_end(struct sfb_thread *thread);

/* Ends all live threads. */
void sfb_thread_end_all(void);

/* Writes the thread's name into the ring if it has changed. */
void sfb_thread_look_at_name(struct sfb_thread *thread);

#endif
