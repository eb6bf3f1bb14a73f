/* Processes and threads, as /proc has them: who descends from the recorder, and what runs in it. */
#ifndef RECORDER_TASKS_H
#define RECORDER_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether /proc is there at all. */
bool sfb_recorder_tasks_known(void);

/*
 * Whether a process descends from this one. A recorder that reaps orphans (PR_SET_CHILD_SUBREAPER) is above all that it
 * has started, daemons included.
 */
bool sfb_recorder_task_is_ours(pid_t pid);

/*
 * Whether a thread belongs to a process, and both numbers mean here what they mean to it: a process in another PID
 * namespace knows itself by another number.
 *
 * @param signal  and whether the process has a handler for it: without one it would end; 0: not asked
 */
bool sfb_recorder_task_is_of(pid_t tid, pid_t pid, int signal);

/*
 * Calls a function with the number here of each process that descends from this one and knows itself by another.
 *
 * @return whether all descendants could be looked at
 */
bool sfb_recorder_tasks_find(pid_t own, void (*found)(void *with, pid_t here), void *with);

/* Whether a process has ended, waited for or not. */
bool sfb_recorder_task_has_ended(pid_t pid);

/* The path of its program, as /proc shows it. @return false: not known */
bool sfb_recorder_task_program(pid_t pid, char *out, size_t room);

/* Its arguments, each with its '\0', as far as they fit. @return bytes written; 0: not known */
size_t sfb_recorder_task_arguments(pid_t pid, char *out, size_t room);

/* Whether its program was executed with an environment variable. False: not known, too. */
bool sfb_recorder_task_has_variable(pid_t pid, const char *name);

/* Whether a process has the namespace that this one has: "mnt", "time". False: not known, too. */
bool sfb_recorder_task_shares(pid_t pid, const char *space);

/* The inode of its PID namespace, which has no other at the same time. @return false: not known */
bool sfb_recorder_task_pid_space(pid_t pid, uint64_t *out);

/* Whether a path names the same file there as here. */
bool sfb_recorder_task_has_our_files(pid_t pid);

/* How far its time namespace moves CLOCK_MONOTONIC, in ns. @return false: not known */
bool sfb_recorder_task_clock_offset(pid_t pid, int64_t *out);

/* @return its parent; 0: not known */
pid_t sfb_recorder_task_parent(pid_t pid);

/* The threads of a process. @return how many of `room` were written */
size_t sfb_recorder_tasks_of(pid_t pid, pid_t *out, size_t room);

/* Its children, those that its threads forked. @return how many of `room` were written */
size_t sfb_recorder_children_of(pid_t pid, pid_t *out, size_t room);

/* CPU time of a thread, in ns. @return false: not known */
bool sfb_recorder_task_cpu(pid_t tid, uint64_t *out);

/* CPU time of a process with all threads that it had, also of one that was not yet waited for. */
bool sfb_recorder_process_cpu(pid_t pid, uint64_t *out);

/* Its memory that is resident, in bytes. */
bool sfb_recorder_process_resident(pid_t pid, uint64_t *out);

/* Its name; "?" */
void sfb_recorder_task_name(pid_t pid, char *out, size_t size);

#endif
