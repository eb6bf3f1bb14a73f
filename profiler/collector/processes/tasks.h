/* Processes and threads in /proc: the descendants of the recorder, and their programs. */
#ifndef PROFILER_COLLECTOR_PROCESSES_TASKS_H
#define PROFILER_COLLECTOR_PROCESSES_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether /proc is mounted. */
bool sfb_recorder_tasks_known(void);

/*
 * Whether a process descends from this one. A recorder that reaps orphans (PR_SET_CHILD_SUBREAPER) is an ancestor of all
 * that it has started, including daemons.
 */
bool sfb_recorder_task_is_ours(pid_t pid);

/* Fields of /proc/TID/status, from one reading. */
struct sfb_recorder_task {
    pid_t group, parent; /* pids here: of its process, and of the parent */
    bool same;           /* its own pid is the same here */
    unsigned user;       /* effective */
    uint64_t caught;     /* signals with a handler: bit 0 is signal 1 */
};

/* @return false: missing, or unreadable: errno says why */
bool sfb_recorder_task_read(struct sfb_recorder_task *out, pid_t tid);

/* Whether a signal has a handler. */
static inline bool sfb_recorder_task_catches(const struct sfb_recorder_task *task, int signal)
{
    return task->caught >> (signal - 1) & 1;
}

/*
 * Whether a thread belongs to a process, and both ids are the same in their namespace and here.
 *
 * @param signal  requires a handler for it, too: without one it would end the process; 0: not checked
 */
bool sfb_recorder_task_is_of(pid_t tid, pid_t pid, int signal);

/*
 * Calls a function with the pid here of each descendant of this process whose own pid is `own` and differs from the one
 * here.
 *
 * @return whether all descendants were readable
 */
bool sfb_recorder_tasks_find(pid_t own, void (*found)(void *with, pid_t here), void *with);

/* Whether a process has ended, reaped or not: all its threads have. */
bool sfb_recorder_task_has_ended(pid_t pid);

/* Whether a thread has ended, and is a zombie. */
bool sfb_recorder_task_is_dead(pid_t tid);

/* When a process or thread has started, in ticks after boot. A number comes again, its start does not. @return 0: unknown, and errno says why */
uint64_t sfb_recorder_task_started(pid_t tid);

/* The path of its program in /proc. @return false: unknown */
bool sfb_recorder_task_program(pid_t pid, char *out, size_t room);

/* Its arguments, each with its '\0', as far as they fit. @return bytes written; 0: unknown */
size_t sfb_recorder_task_arguments(pid_t pid, char *out, size_t room);

/* Whether its program was executed with an environment variable. False also if unknown. */
bool sfb_recorder_task_has_variable(pid_t pid, const char *name);

/* Whether a process shares a namespace, such as "mnt", with this one. False also if unknown. */
bool sfb_recorder_task_shares(pid_t pid, const char *space);

/* The inode of its namespace "pid" or "time", unique while the namespace exists. @return false: unknown */
bool sfb_recorder_task_space(pid_t pid, const char *space, uint64_t *out);

/* Whether a path names the same file for that process and this one. */
bool sfb_recorder_task_has_our_files(pid_t pid);

/* The offset of CLOCK_MONOTONIC in its time namespace, in ns. @return false: unknown */
bool sfb_recorder_task_clock_offset(pid_t pid, int64_t *out);

/* @return its parent; 0: unknown */
pid_t sfb_recorder_task_parent(pid_t pid);

/* The threads of a process. @return how many of `room` were written. errno: 0, or why they are not all */
size_t sfb_recorder_tasks_of(pid_t pid, pid_t *out, size_t room);

/* The children of all its threads. @return how many of `room` were written. errno: 0, or why they are not all */
size_t sfb_recorder_children_of(pid_t pid, pid_t *out, size_t room);

/* CPU time of a thread, in ns. @return false: unknown */
bool sfb_recorder_task_cpu(pid_t tid, uint64_t *out);

/* CPU time of a process with all its threads so far; also of a zombie. @return false: unknown */
bool sfb_recorder_process_cpu(pid_t pid, uint64_t *out);

/*
 * CPU time of a process and of the children that it has waited for, with what those have waited for, in ns; as exact as a tick.
 *
 * @return false: unknown
 */
bool sfb_recorder_process_waited_cpu(pid_t pid, uint64_t *out);

/*
 * Sums up what the kernel says of the children that it has waited for: CPU time in ticks, and page faults, of which each process has some. A later sum
 * is larger if it has waited for another child.
 *
 * @return false: unknown
 */
bool sfb_recorder_process_reaped(pid_t pid, uint64_t *out);

/* Its resident memory, in bytes. @return false: unknown */
bool sfb_recorder_process_resident(pid_t pid, uint64_t *out);

/* Its name; or "?" */
void sfb_recorder_task_name(pid_t pid, char *out, size_t size);

#endif
