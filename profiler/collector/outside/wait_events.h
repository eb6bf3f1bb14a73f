/*
 * Perf events that say when threads wait. What may be had decides which: a rung.
 *
 * At first threads inherit switch records. An event costs its thread about a microsecond at each wait: where there are too many
 * waits, each thread has events of its own, or none. Samples are always a thread's own.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_WAIT_EVENTS_H
#define PROFILER_COLLECTOR_OUTSIDE_WAIT_EVENTS_H

#include "profiler/collector/outside/perf_rings.h"
#include "profiler/collector/outside/tracepoint.h"
#include "profiler/collector/outside/wait_kernel.h"

enum wait_rung {
    WAIT_LOOKS,    /* nothing */
    WAIT_SWITCHES, /* records of context switches */
    WAIT_STACKS    /* samples of them, with their stack; and of wake-ups, where that is allowed */
};

/* Samples of wake-ups on one CPU. */
struct wait_wake {
    int fd;
    bool has_filter; /* else it never counts: it would sample wake-ups of all threads */
};

struct wait_events {
    struct perf_rings rings;
    enum wait_rung rung;      /* the best that is allowed */
    struct tracepoint waking; /* the thread that is woken up; number 0: wake-ups are not recorded */
    struct tracepoint
        stop; /* the state of a thread that stops running; number 0: it is not known */
    bool own; /* each thread has its own switch records, and inherits none */
    struct wait_kernel *kernel; /* where samples are allowed */
    struct wait_wake *wakes;    /* one for each CPU; NULL: none */
    REPORT_ARRAY(int) inherited;
    size_t enabled; /* of those */
    uint64_t refused;
};

/* Events of one thread: descriptors, one for each CPU. NULL: it has inherited them, or lacks them. */
struct wait_thread_events {
    enum wait_rung rung;
    int *switches, *stacks;
};

/* @return false: not allowed. Then it needs no wait_events_close() */
bool wait_events_open(struct wait_events *out, bool no_children);

/* Opens events of a thread, which the threads that it starts inherit. @return false: it has ended, or errno says why not */
bool wait_events_watch(struct wait_events *events, pid_t tid);

/* Lets those count that do not yet. */
void wait_events_enable(struct wait_events *events);

/* Ends what threads have inherited: each has what wait_events_set() gave it. */
void wait_events_disinherit(struct wait_events *events);

/* Sets which events a thread has. @return false: there is no descriptor for them, or no right */
bool wait_events_set(struct wait_events *events, struct wait_thread_events *thread, pid_t tid,
                     enum wait_rung rung);

/* Ends the events of a thread. */
void wait_events_free(struct wait_events *events, struct wait_thread_events *thread);

/*
 * Records from now on what wakes these threads up, and perhaps others with numbers in between: threads of any process,
 * interrupts as well.
 *
 * @param tids  sorted here
 * @return false: for want of a descriptor some CPUs have the threads of the last call that succeeded there
 */
bool wait_events_wake(struct wait_events *events, pid_t *tids, size_t count);

/* Inherited events do not count in a pause. Wake-ups are not sampled any more, until wait_events_wake(). */
void wait_events_pause(struct wait_events *events, bool paused);

void wait_events_close(struct wait_events *events);

#endif
