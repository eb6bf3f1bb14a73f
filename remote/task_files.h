/* What /proc says of one thread: its state, whether it has run, and where it sleeps. */
#ifndef REMOTE_TASK_FILES_H
#define REMOTE_TASK_FILES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether a failed open or read of a file of a thread says that the thread has ended. Else it may live on: there is no descriptor or no
 * memory for the file just now.
 */
static inline bool remote_task_has_ended(int error)
{
    return error == ENOENT || error == ESRCH;
}

/* Open while the thread is looked at: each look reads both files twice. */
struct remote_task_files {
    int call; /* /proc/PID/task/TID/syscall */
    int run;  /* .../schedstat */
};

/* Where its program is: another one after an exec. Zeros: it has no memory, or may not be read. */
struct remote_task_image {
    uint64_t code, code_end, stack;
};

struct remote_task_stat {
    char state; /* proc(5) */
    char name[64];
    uint64_t started; /* in ticks after boot */
    struct remote_task_image image;
};

/* Equal between two moments: the thread has not run in between. */
struct remote_task_run {
    uint64_t cpu_time; /* ns */
    uint64_t waited, turns;
};

enum remote_task_where {
    REMOTE_TASK_GONE,
    REMOTE_TASK_REFUSED, /* errno says why */
    REMOTE_TASK_RUNS,
    REMOTE_TASK_SLEEPS
};

struct remote_task_call {
    enum remote_task_where where;
    bool in_call;
    int64_t number;
    uint64_t argument[6];
    uint64_t sp, pc;
};

/* @param tasks  descriptor of /proc/PID/task. @return false: the thread is gone, or errno says why not */
bool remote_task_files_open(struct remote_task_files *out, int tasks, pid_t tid);

void remote_task_files_close(struct remote_task_files *files);

void remote_task_call_read(struct remote_task_call *out, const struct remote_task_files *files);

/* Takes the call that a thread was seen in, asleep, if it is still there: a stop does not show the arguments. */
void remote_task_call_keep(struct remote_task_call *now, const struct remote_task_call *asleep);

/* @return false: the kernel does not count */
bool remote_task_run_read(struct remote_task_run *out, const struct remote_task_files *files);

/* @return false: errno says why not, as for remote_task_has_ended() */
bool remote_task_stat_read(struct remote_task_stat *out, int tasks, pid_t tid);

/* @return the signals that would end a sleep of it now: pending, and not blocked; all ones: not known */
uint64_t remote_task_signals(int tasks, pid_t tid);

/*
 * @param nested  written: it is in a PID namespace below the one of /proc
 * @return the number of the thread in its own PID namespace; 0: the thread is gone
 */
pid_t remote_task_own_number(bool *nested, int tasks, pid_t tid);

/*
 * Lists the threads of a process, ascending.
 *
 * @return how many, which is 0 if it has ended; -1: errno says why not, and the list would not be whole. *out: for free()
 */
ssize_t remote_task_list(pid_t **out, int tasks);

/*
 * Counts the threads of a process, by the links of its folder: one call, and none of them is read.
 *
 * @param out  written
 * @return false: it has ended
 */
bool remote_task_count(size_t *out, int tasks);

#endif
