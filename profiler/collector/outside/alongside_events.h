/* The events of a recording beside agents: common ones, which all processes inherit, and events of single processes. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_EVENTS_H
#define PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_EVENTS_H

#include "profiler/collector/outside/perf_rings.h"

struct alongside_events {
    struct perf_rings rings;
    struct perf_event_attr own;     /* of single processes */
    struct perf_event_attr telling; /* the same, and they say what those do */
    int *tasks;                     /* count nothing, and say what processes do */
    int *common;                    /* turned on by an exec */
    uint64_t *common_ids;
};

/* Events of one process. */
struct alongside_own {
    int *fds;
    size_t count, room;
    uint32_t stack; /* bytes of a copy */
};

/* @return NULL, or the call that failed: errno says why */
const char *alongside_events_open(struct alongside_events *out, uint32_t rate_hz);

/* Turns the common events off in all processes. Each will turn them on at its first exec. */
void alongside_events_turn_off(const struct alongside_events *events);

/* Whether a sample is of a common event. */
bool alongside_events_is_common(const struct alongside_events *events, uint64_t id);

/*
 * Opens events of all threads of a process, which threads to come inherit, and its children do not.
 *
 * @param tells  they say as well what it does: the events that it had inherited have ended
 * @return false: none is open, and errno says why
 */
bool alongside_own_open(const struct alongside_events *events, struct alongside_own *out, pid_t pid,
                        uint32_t stack, bool tells);

/* Whether none counts any more: its threads have ended, or the kernel has ended them at an exec. */
bool alongside_own_has_ended(const struct alongside_own *own);

/* @return what they have counted, in ns */
uint64_t alongside_own_count(const struct alongside_own *own);

void alongside_own_close(struct alongside_own *own);

void alongside_events_close(struct alongside_events *events);

#endif
