/* Threads of processes that are looked at, as they come and go. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_THREADS_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_THREADS_H

#include "profiler/collector/outside/looks_state.h"

/* Reads a thread's CPU time in ns, and its turns. @return false: they stay as they are, and errno says why */
bool look_thread_read(const struct look_process *process, struct look_thread *thread);

/* When a thread began that was not in the last list. @return CLOCK_MONOTONIC, as exact as half a tick to both sides */
uint64_t look_thread_begun(const struct look_process *process, const struct look_thread *thread);

/*
 * Adds threads that have come, and marks the listed ones as seen. A thread that cannot be read now comes with the next list: the process
 * is then marked as partial.
 *
 * @return false: no memory
 */
bool look_threads_list(struct looks *looks, struct look_process *process, bool is_new);

/* Ends threads that the last list has not. Their last records were taken. */
void look_threads_forget(struct looks *looks, struct look_process *process);

/* Closes descriptors of threads, for processes: without its own one a process is not looked at. */
void look_threads_release(struct looks *looks);

/* Forgets all of them: nothing of them is recorded. */
void look_threads_drop(struct looks *looks, struct look_process *process);

/* Ends all of them. */
void look_threads_close(struct looks *looks, struct look_process *process);

/* @param pid  0: not known. @param process  written. @return NULL: it was not found yet */
struct look_thread *look_thread_find(const struct looks *looks, pid_t pid, pid_t tid,
                                     struct look_process **process);

#endif
