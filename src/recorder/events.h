/*
 * Events of perf that send a thread a signal for each so much of its CPU time in user mode: task-clock. An ordinary user
 * may have them at kernel.perf_event_paranoid 2.
 *
 * They are opened here, for threads of other processes, so that these keep no descriptor and need no right to it. No
 * buffer is mapped: the signal is all that is wanted.
 */
#ifndef RECORDER_EVENTS_H
#define RECORDER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sfb_recorder_event {
    int fd; /* -1: none */
    pid_t tid;
    uint64_t base;  /* CPU time of the thread when it began, about */
    uint64_t first; /* its first period, which is random; 0: the period is the one asked for */
    bool once;      /* it stops after the first */
};

struct sfb_recorder_events {
    uint64_t period; /* ns */
    int signal;
    uint64_t delivery_ns; /* CPU time that a signal costs beside its handler */
    unsigned slowed;      /* how often the period was raised */
    size_t count, limit;  /* open, and at most */
};

/*
 * Tries it on this thread: the kernel may refuse, and signals may not come.
 *
 * @return NULL: it works; or why not, as in "perf_event_open: Operation not permitted": a static text, or one that is
 *         valid until the next call
 */
const char *sfb_recorder_events_try(const struct sfb_recorder_events *events);

/*
 * Measures delivery_ns on this thread, for a millisecond or two: the interrupt, the handler's frame and the return from
 * it, which can be more than all that an agent does.
 */
void sfb_recorder_events_measure(struct sfb_recorder_events *events);

/*
 * Raises the period where samples would cost more than half of the CPU time: the program would be more than twice as slow,
 * or come to a standstill.
 *
 * @param handler_ns  CPU time of a handler
 * @return whether it was raised: sfb_recorder_event_slow() then, for each event
 */
bool sfb_recorder_events_slow(struct sfb_recorder_events *events, uint64_t handler_ns);

/* How many may be open: half of the descriptors that this process may have. */
size_t sfb_recorder_events_limit(void);

/*
 * Opens one for a thread; it counts and sends no signal yet.
 *
 * @return false: refused, errno says why
 */
bool sfb_recorder_event_open(struct sfb_recorder_events *events, struct sfb_recorder_event *out,
                             pid_t tid);

/* From now on signals come. */
void sfb_recorder_event_enable(const struct sfb_recorder_event *event);

/* Where the first period has passed, the right one begins. To be called now and then. */
void sfb_recorder_event_settle(const struct sfb_recorder_events *events,
                               struct sfb_recorder_event *event);

/* Gives it the period that they have now. */
void sfb_recorder_event_slow(const struct sfb_recorder_events *events,
                             const struct sfb_recorder_event *event);

/* CPU time of its thread, which may have ended. @return false: not known */
bool sfb_recorder_event_cpu(const struct sfb_recorder_event *event, uint64_t *out);

void sfb_recorder_event_close(struct sfb_recorder_events *events, struct sfb_recorder_event *event);

#endif
