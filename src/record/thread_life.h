/* A thread gets its ring and its timer, and gives them back. */
#ifndef SFB_RECORD_THREAD_LIFE_H
#define SFB_RECORD_THREAD_LIFE_H

#include <stdint.h>
#include <sys/types.h>

#include "record/space.h"
#include "record/thread.h"

/*
 * Takes a ring for the calling thread.
 *
 * @param cpu_start  its CPU time from which on it is recorded
 * @return NULL: there is none left, which is counted
 *
 * Signals: safe.
 */
struct sfb_thread *sfb_thread_begin(uint64_t cpu_start);

/*
 * The ring of the calling thread; NULL: it has none, or none that it knows of. What it knew in an earlier recording is
 * forgotten: others may have that place by now.
 *
 * Signals: safe.
 */
struct sfb_thread *sfb_thread_own(void);

/*
 * Takes a ring for another thread of this process, which finds it with its first signal.
 *
 * Signals: safe.
 */
struct sfb_thread *sfb_thread_begin_other(pid_t tid, uint64_t cpu_start);

/* The thread of this process with a number that has a ring; NULL: none. */
struct sfb_thread *sfb_thread_of(pid_t tid);

/* What the CPU agent has besides the shared memory. */
extern const struct sfb_space_kind sfb_thread_space;

/* Ends it: nothing is sampled any more, and its CPU time is written. Once, whoever asks. */
void sfb_thread_end(struct sfb_thread *thread);

/* Ends all that live. */
void sfb_thread_end_all(void);

/* Writes the thread's name into the ring if it has changed. */
void sfb_thread_look_at_name(struct sfb_thread *thread);

#endif
