/* Threads without a ring, and processes without an agent, so far or for good. */
#ifndef PROFILER_COLLECTOR_PROCESSES_UNTRACKED_H
#define PROFILER_COLLECTOR_PROCESSES_UNTRACKED_H

#include "profiler/collector/processes/followed.h"

/*
 * Opens events for threads without one: threads not made by pthread_create(), such as Go's.
 *
 * @param slot  of their process
 */
void sfb_recorder_untracked_threads(struct sfb_recorder_follow *follow, uint32_t slot);

/* Moves such a thread's event to its new ring. @return false: it has no event */
bool sfb_recorder_untracked_take(struct sfb_recorder_follow *follow, pid_t tid,
                                 struct sfb_recorder_event *out);

/* At a process's exit: closes the events of its threads. */
void sfb_recorder_untracked_forget(struct sfb_recorder_follow *follow, pid_t pid);

/*
 * Reports children without an agent, and why, when seen for the second time. A zombie is no loss: it was seen too late. A
 * process whose agent may still be loading is a loss only after a second of CPU time.
 */
void sfb_recorder_untracked_processes(struct sfb_recorder_follow *follow);

/* At the recording's end: adds the CPU time of processes without an agent to the unrecorded time. */
void sfb_recorder_untracked_end(struct sfb_recorder_follow *follow);

/* Reports one process, after a look at its program. */
void sfb_recorder_untracked_report(struct sfb_recorder_follow *follow, uint32_t parent, pid_t pid);

#endif
