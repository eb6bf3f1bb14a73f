/* What has no agent, or not yet: threads without a ring, processes that nothing was loaded into. */
#ifndef RECORDER_STRAY_H
#define RECORDER_STRAY_H

#include "recorder/followed.h"

/*
 * Opens events for threads that have none: those that were not made by pthread_create(), as Go's.
 *
 * @param slot  of their process
 */
void sfb_recorder_stray_threads(struct sfb_recorder_follow *follow, uint32_t slot);

/* Gives the event of such a thread away, for its ring. @return false: it has none */
bool sfb_recorder_stray_take(struct sfb_recorder_follow *follow, pid_t tid,
                             struct sfb_recorder_event *out);

/* A process has ended: events of its threads are closed. */
void sfb_recorder_stray_forget(struct sfb_recorder_follow *follow, pid_t pid);

/*
 * Reports children that have no agent when they are seen for the second time, and why. Zombies were not looked at in
 * time, and are no loss; one whose agent may still be on its way is none before it has used a second of CPU time.
 */
void sfb_recorder_stray_processes(struct sfb_recorder_follow *follow);

/* The recording ends: what those used that are seen is added to what is not recorded. */
void sfb_recorder_stray_end(struct sfb_recorder_follow *follow);

/* Reports one process: its program is looked at. */
void sfb_recorder_stray_tell(struct sfb_recorder_follow *follow, uint32_t parent, pid_t pid);

#endif
