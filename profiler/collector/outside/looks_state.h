/* The inside of looks: processes, threads, and what each was seen to wait in. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOKS_STATE_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOKS_STATE_H

#include "profiler/collector/outside/look_mappings.h"
#include "profiler/collector/outside/outside_python.h"
#include "profiler/collector/outside/outside_samples.h"
#include "profiler/collector/outside/wait_events.h"
#include "remote/thread_look.h"
#include "util/array.h"
#include "util/index.h"
#include "util/strings.h"

/* Where a thread was when it stopped running. */
struct look_left {
    struct outside_place place; /* no stack: not known */
    uint64_t pc, sp;
    uint32_t state; /* enum sfb_recording_state, if it waits */
    const char *call;
    uint32_t awaited; /* in the recording; 0: not known */
};

/* What ended a wait. */
struct look_waker {
    uint64_t time;          /* CLOCK_MONOTONIC; 0: not known */
    uint32_t thread, stack; /* in the recording; 0: none, not known */
    const char *name;       /* of what is no thread there; NULL or "": not known, or a look */
};

/* A wait that has ended without a record of its wake-up: look_ended.h. */
struct look_ended {
    struct look_left left;
    struct look_waker woken;
    uint64_t off, on; /* CLOCK_MONOTONIC */
};

/*
 * The wall time of a thread, where waits are recorded. What schedstat says divides it exactly: CPU time, time that it was
 * runnable, and the rest, blocked. Where it was blocked is what looks have seen.
 */
struct look_wait {
    uint64_t seen;              /* CLOCK_MONOTONIC: its time is divided up to here */
    struct remote_task_run run; /* as it was then */
    uint64_t cpu;               /* its CPU time when that began */
    uint64_t begun;             /* CLOCK_MONOTONIC, when that began */
    bool asleep;                /* at `place`, since then at least */
    struct outside_place place;
    uint32_t state;         /* enum sfb_recording_state */
    const char *call;       /* "": none */
    uint64_t pending;       /* ns at `place` that are not recorded yet */
    uint64_t pending_since; /* CLOCK_MONOTONIC, when they began */
    int64_t blocked;        /* ns that no look has placed yet; below 0: too many were placed */
    uint64_t runnable;
    uint64_t place_until; /* CLOCK_MONOTONIC: end of the last wait at `place`; 0: not known */
    uint32_t rests;       /* by looks alone: looks in a row at which it had not run */
    bool skipped;         /* in the last round */

    /* With switch records, which say exactly when it stopped and went on: look_switches.h */
    uint64_t off; /* CLOCK_MONOTONIC, since when it waits; 0: it does not, or that is not known */
    uint64_t placed_at;   /* when `place` was seen: it is of the wait that has this moment */
    uint64_t still;       /* since when it has not run; 0: it has since the last look */
    uint64_t claim;       /* ns of waits at `place` that have ended and are not divided yet */
    uint64_t claim_short; /* of waits that no look has seen */
    uint64_t woke;        /* CLOCK_MONOTONIC: end of the last wait that has ended */
    bool dead;            /* a zombie: its time is no wait */
    bool late;            /* `run` is not read yet, or no more: for want of a descriptor */
    bool doubtful;        /* records were lost: `off` holds if it has not run since */
    uint64_t overdue;     /* `off` of a wait that has ended by schedstat, and not by records yet */
    uint64_t brief;       /* ns that no look has placed, or will; not recorded yet */
    uint64_t brief_put;   /* CLOCK_MONOTONIC, when that was recorded last */

    /* With samples of switches, and of wake-ups */
    struct look_left left;
    uint64_t preempted;      /* CLOCK_MONOTONIC, since when it would run on; 0: it does not */
    uint64_t ahead;          /* ns that it was runnable, recorded before schedstat was read */
    uint64_t twice;          /* ns of that, recorded after schedstat's were */
    uint64_t unsure;         /* ns of waits that look_ended.h has */
    uint64_t fresh;          /* ns of `runnable`, by the last reading of schedstat */
    struct look_waker woken; /* from the present wait */
    struct look_waker early; /* while it ran, as far as records say */
    struct look_waker waker; /* from the wait at `place`, which has ended */

    /* What it waits for: look_awaited.h, look_holders.h */
    uint32_t awaited;              /* in the recording; 0: not known */
    uint64_t began;                /* CLOCK_MONOTONIC, of the wait at `place`; 0: not known */
    uint32_t holder, holder_stack; /* in the recording, of the mutex's owner; 0: none, not known */
};

struct look_thread {
    pid_t tid;
    int run;                           /* descriptor of its schedstat; -1: opened for each look */
    uint64_t cpu;                      /* when it was read last */
    uint64_t turns;                    /* on a CPU, by the same read */
    uint64_t looked_turns, looked_cpu; /* at the last look */
    int64_t looked_difference;
    int64_t base;     /* turns, less times that it left a CPU, while it is on none: look_cpu.h */
    bool runs;        /* it was on a CPU at the last look: its time is added up at ticks */
    uint64_t found;   /* its CPU time when it was found on another CPU last */
    uint64_t sampled; /* CPU time that samples have, or that was before */
    bool seen;
    bool unread; /* since a pause: its CPU time could not be read */
    struct look_wait wait;
    REPORT_ARRAY(struct look_ended) unsure;
    uint64_t ran_at;    /* CLOCK_MONOTONIC of its last sample */
    uint32_t ran_stack; /* of that one, in the recording */
    struct wait_thread_events events;
    uint64_t judged_turns;
    uint64_t
        woken_since; /* CLOCK_MONOTONIC, since when its wake-ups are recorded; 0: they are not */
    pid_t own;       /* its number in its own PID namespace; 0: not read yet */
};

struct look_process {
    pid_t pid;
    int tasks;        /* descriptor of /proc/PID/task */
    uint64_t started; /* in ticks after boot */
    struct remote_task_image image;
    struct remote_memory memory; /* by a thread that lives */
    struct remote_python python;
    REPORT_ARRAY(struct look_thread) threads;
    size_t gone; /* of those: the last list lacks them */
    struct look_mappings mappings;
    bool nested_known, nested; /* its PID namespace is another one than that of /proc */
    uint64_t maps;             /* hash of its map */
    uint64_t maps_asked;       /* when look_maps_anew() read it last */
    uint64_t maps_pause;       /* until it may do so again: code made at run time is in no module */
    uint64_t listed;           /* when threads and map were read, or that was tried */
    uint64_t threads_listed;   /* when threads were listed */
    uint64_t listed_before;    /* before that, when it was for the whole list */
    uint64_t reaped;           /* sfb_recorder_process_reaped(), when it was read last */
    bool partial;              /* the last list was not whole */
    bool turned;               /* threads have come or ended since, by records or looks */
    bool ended;                /* look_processes_forget_ended() has found no thread of it */
    bool is_started;           /* by sfb, at `listed_before` of its first list */
    bool seen;
};

/* What was waited for so far. */
struct look_awaited {
    struct report_index futexes; /* by process of the recording and address: id */
    struct report_strings keys;  /* "PROCESS DESCRIPTOR LINK" */
    REPORT_ARRAY(uint32_t) ids;  /* of keys; 0: not to be kept */
};

/* A thread that waits for a mutex, seen in this round, and the mutex's owner then. */
struct look_due {
    pid_t pid, waiter, owner;
    uint64_t mutex; /* address of its word */
    uint64_t seen;  /* CLOCK_MONOTONIC */
    uint32_t kind;  /* enum look_mutex */
};

/* Names of processes that woke threads up: read once a second. */
enum { LOOK_NAMES = 64 };

struct look_name {
    uint32_t pid;
    uint64_t time;
    uint32_t name; /* string */
};

struct looks {
    struct outside *outside;
    bool waits;       /* are recorded, too */
    bool paused;      /* looks_pause() */
    uint64_t resumed; /* CLOCK_MONOTONIC, end of the last pause; 0: no pause has ended */
    bool ends;        /* all time is divided for the last time */
    uint64_t drained; /* CLOCK_MONOTONIC: records up to here were taken */
    uint64_t late;    /* ns: looks so far apart are late */
    uint64_t rounds;
    REPORT_ARRAY(struct look_process *) processes;
    struct remote_look look;      /* its room is used again */
    struct outside_python python; /* of that look */
    uint64_t stops;
    uint64_t begun; /* in ticks after boot */
    bool listed;    /* processes, for the first time */
    pid_t starts;   /* executes its program from `starts_at` on, CLOCK_MONOTONIC; 0: none */
    uint64_t starts_at;
    int own_run;         /* descriptor of this thread's schedstat; -1: none */
    uint64_t own_waited; /* this thread, for a CPU: up to the end of the last round */
    uint64_t
        came_at; /* when it got one for this round, by the scheduler's clock; 0: late, or not known */
    size_t files, limit; /* descriptors of processes and threads */
    uint64_t skipped;    /* processes, at most at one time: there was no descriptor */
    uint64_t unread;     /* threads whose time could not be read at its beginning or end */
    struct look_awaited awaited;
    REPORT_ARRAY(struct look_due) due;

    /* Records of waits: look_events.h, look_switches.h */
    struct wait_events *events; /* NULL: looks alone */
    uint64_t judged;            /* CLOCK_MONOTONIC */
    bool has_unknown;           /* records came of a process that is not known */
    bool has_new;               /* threads that were not judged yet */
    bool woken_changed;         /* threads that have stacks of their waits */
    uint64_t woken_set;         /* CLOCK_MONOTONIC: the filter for those */
    uint64_t lost_at;           /* CLOCK_MONOTONIC, when records were lost last */
    uint64_t samples_since;     /* that were read since then */
    uint64_t samples_most;      /* of those; then they end */
    bool busy;                  /* all threads wait more often than a calm program's */
    bool braked;                /* there were too many */
    uint64_t waits_since;       /* that records have begun since then */
    enum wait_rung room;        /* what a new thread may have */
    uint64_t by_looks_most;     /* threads at one time that wait too often */
    uint64_t no_events_most;    /* threads at one time that could have no events */
    struct report_strings names;
    struct look_name known_names[LOOK_NAMES];
};

/* Whether samples say where a thread stops running: each of its waits is a record of its own. */
static inline bool look_has_own(const struct look_thread *t)
{
    return t->events.rung == WAIT_STACKS;
}

/* Whether the present wait of a thread has a place, by a sample of its beginning. */
static inline bool look_has_left(const struct look_wait *wait)
{
    return wait->off != 0 && wait->left.place.stack != 0;
}

/* Whether records say when a thread waits. */
static inline bool look_is_exact(const struct look_thread *t)
{
    return t->events.rung > WAIT_LOOKS;
}

/* @return descriptor of a thread's schedstat; -1: none */
int look_run_open(const struct look_process *process, pid_t tid);

/* @return false: errno says why not, as for remote_task_has_ended() */
bool look_run_read(struct remote_task_run *out, const struct look_process *process,
                   const struct look_thread *thread);

/* Reads a schedstat. @return false: errno says why not; of a descriptor below 0 it stays as it is */
bool look_run_parse(struct remote_task_run *out, int fd);

/*
 * Stops a thread that runs, and takes a sample.
 *
 * @param on_cpu  false: no sample, the place alone; its CPU time goes to the next one
 * @param place   written: where it was; no stack: nothing was taken
 * @return false: the recording cannot be written, or no memory
 */
bool look_running(struct looks *looks, struct look_process *process, struct look_thread *thread,
                  bool on_cpu, struct outside_place *place);

/* @return NULL: it is not known, or has ended */
struct look_process *look_process_of(const struct looks *looks, pid_t pid);
struct look_thread *look_thread_of(struct look_process *process, pid_t tid);

/*
 * Of a stack with code in no known module: reads what is mapped now, more seldom where that was for nothing.
 * look_processes.c has it.
 *
 * @param changed  written: other modules are known now
 * @return false: no memory
 */
bool look_maps_anew(struct looks *looks, struct look_process *process, bool *changed);

/* The copied stack of looks->look. Its walk writes looks->python. */
struct sfb_copied_stack look_copied(struct looks *looks, size_t most);

/* @return functions of Python in looks->look, once its stack was walked; NULL: it has no such functions */
const struct outside_python *look_python(const struct looks *looks);

#endif
