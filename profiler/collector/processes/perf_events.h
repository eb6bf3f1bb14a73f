/*
 * perf events that signal a thread after each period of its CPU time in user mode (task-clock). An ordinary user may open
 * them at kernel.perf_event_paranoid 2.
 *
 * They are opened here, for threads of other processes: these keep no descriptor, and need no permission. No buffer is
 * mapped: only the signal is used.
 */
#ifndef PROFILER_COLLECTOR_PROCESSES_PERF_EVENTS_H
#define PROFILER_COLLECTOR_PROCESSES_PERF_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sfb_recorder_event {
    int fd; /* -1: closed */
    pid_t tid;
    pid_t process;    /* of a thread that is the only one: same clock; 0: unknown */
    uint64_t base;    /* CPU time of the thread when the event began to count, about */
    uint64_t sampled; /* CPU time sampled until then */
    uint64_t first;   /* its random first period; 0: the right period is set */
    bool once;        /* stops after the first signal */
};

struct sfb_recorder_events {
    uint64_t period; /* in ns */
    bool
        paused; /* events count on, with few signals; then call sfb_recorder_event_slow() for each event */
    int signal;
    uint64_t delivery_ns; /* CPU time of a signal besides its handler */
    unsigned slowed;      /* how often the period was raised */
    size_t count, limit;  /* open, and at most */
};

/*
 * Tries an event on this thread: the kernel may refuse, and signals may not arrive.
 *
 * @return NULL: it works; or why not, as in "perf_event_open: Operation not permitted": a static text, or one that is
 *         valid until the next call
 */
const char *sfb_recorder_events_try(const struct sfb_recorder_events *events);

/*
 * Measures delivery_ns on this thread, for a millisecond or two: the interrupt, the handler's frame, and its return.
 * Together they may cost more than the agent's handler.
 */
void sfb_recorder_events_measure(struct sfb_recorder_events *events);

/*
 * Raises the period if samples would take more than half of the CPU time: the program would run at less than half its
 * speed, or not at all.
 *
 * @param handler_ns  CPU time of a handler
 * @return whether it was raised: then call sfb_recorder_event_slow() for each event
 */
bool sfb_recorder_events_slow(struct sfb_recorder_events *events, uint64_t handler_ns);

/* @return how many may be open: half of this process's descriptors */
size_t sfb_recorder_events_limit(void);

/*
 * Opens an event for a thread; it counts, and sends no signals yet.
 *
 * @param process  the thread's, if it has no other thread; 0: unknown
 * @param sampled  CPU time of its last sample
 * @return false: refused; see errno
 */
bool sfb_recorder_event_open(struct sfb_recorder_events *events, struct sfb_recorder_event *out,
                             pid_t tid, pid_t process, uint64_t sampled);

/* Starts signals. The first comes a random part of a period after the last sample. */
void sfb_recorder_event_enable(const struct sfb_recorder_events *events,
                               struct sfb_recorder_event *event);

/* Sets the right period once the first one has passed. Called soon after the first signal. */
void sfb_recorder_event_settle(const struct sfb_recorder_events *events,
                               struct sfb_recorder_event *event);

/* Sets the event's period to the current one. */
void sfb_recorder_event_slow(const struct sfb_recorder_events *events,
                             const struct sfb_recorder_event *event);

/* CPU time of the event's thread, which may have ended. @return false: unknown */
bool sfb_recorder_event_cpu(const struct sfb_recorder_event *event, uint64_t *out);

void sfb_recorder_event_close(struct sfb_recorder_events *events, struct sfb_recorder_event *event);

#endif
