/* The processes and threads of a recording from outside, by their numbers in the system. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_TASKS_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_TASKS_H

#include "sfb/copied.h"
#include "util/array.h"
#include "util/index.h"

/* A program in a process. Those without a sample are in no recording. */
struct outside_process {
    uint32_t pid, parent_pid;
    uint32_t how; /* enum sfb_recording_how */
    uint64_t time;
    uint64_t weight; /* of its samples */
    uint64_t cpu;    /* CPU time when its recording began */
    uint64_t
        missed; /* CPU time without samples that counts: when it was found, and at threads' ends */
    uint64_t paused;    /* since it began, while the recording was paused */
    uint64_t pause_cpu; /* when the pause of now began, and it was known then: outside_pause.h */
    bool pause_seen;
    uint64_t used; /* since then, where that is known otherwise; 0: it is not */
    uint32_t id;   /* in the recording; 0: not yet */
    uint32_t slot;
    uint32_t owner;                 /* user id, where it has an id; -1: not known */
    uint32_t alive;                 /* threads */
    bool handed;                    /* its threads have ids of an entry that is another's */
    bool listed;                    /* the recording has its modules as they are */
    struct sfb_copied_space *space; /* NULL: it has ended */
    char name[16];
    char *program; /* path of the first file that it has mapped; NULL: none yet */
};

struct outside_thread {
    uint32_t tid, process; /* index; REPORT_NONE: it has ended */
    uint32_t id;           /* in the recording; 0: not yet */
    bool named;            /* the recording has its name as it is */
    char name[16];
};

struct outside_tasks {
    struct sfb_copied_files *files;
    REPORT_ARRAY(struct outside_process) processes;
    REPORT_ARRAY(struct outside_thread) threads;
    REPORT_ARRAY(uint32_t) process_of; /* of a pid's number: the newest; REPORT_NONE: none lives */
    REPORT_ARRAY(uint32_t) thread_of;
    struct report_index pids, tids;                      /* numbers */
    REPORT_ARRAY(uint32_t) free_processes, free_threads; /* places to use again */
};

/*
 * The process of a pid.
 *
 * @param add  makes it where it is not known
 * @return NULL: not known; no memory
 */
struct outside_process *outside_tasks_process(struct outside_tasks *tasks, uint32_t pid, bool add);

/* The thread of a tid, which belongs to that process from then on. @return NULL: no memory */
struct outside_thread *outside_tasks_thread(struct outside_tasks *tasks, uint32_t tid,
                                            struct outside_process *process);

/* @return the thread; NULL: not known */
struct outside_thread *outside_tasks_known(struct outside_tasks *tasks, uint32_t tid);

/* It lives no more, nor do its threads: numbers and places are used again, and it must not be used. */
void outside_tasks_forget_process(struct outside_tasks *tasks, struct outside_process *process);
void outside_tasks_forget_thread(struct outside_tasks *tasks, struct outside_thread *thread);

void outside_tasks_free(struct outside_tasks *tasks);

#endif
