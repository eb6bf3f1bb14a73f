/*
 * The agents of a session: from when until when they record which processes. Slots, and the pids in them, are what a program has
 * written: pids may be made up.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_AGENTS_H
#define PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/array.h"

/* Four times the slots of a session. Of more the oldest one that has ended is forgotten. */
enum { ALONGSIDE_AGENTS_MOST = 2048 };

/* One that has come: a process may have several, one program after the other. CLOCK_MONOTONIC here. */
struct alongside_agent {
    uint32_t pid, slot;
    uint64_t since, until; /* until UINT64_MAX: it has not left */
    uint64_t ended;        /* when its slot has; 0: it has not */
};

struct alongside_agents {
    REPORT_ARRAY(struct alongside_agent) list;
};

/* @return false: no memory */
bool alongside_agents_came(struct alongside_agents *agents, uint32_t slot, uint32_t pid,
                           uint64_t since);

/* It leaves a process that goes on. */
void alongside_agents_left(struct alongside_agents *agents, uint32_t pid, uint64_t until);

/* Its slot has ended: it is needed for records of before. */
void alongside_agents_ended(struct alongside_agents *agents, uint32_t slot, uint64_t time);

/* @return the last one of a process since a time; NULL: none has come */
const struct alongside_agent *alongside_agents_find(const struct alongside_agents *agents,
                                                    uint32_t pid, uint64_t since);

/* The process has ended. @param time  then: agents of a later process with its number stay */
void alongside_agents_forget(struct alongside_agents *agents, uint32_t pid, uint64_t time);

/*
 * Drops those whose slots ended before a time.
 *
 * @param needed  whether one is kept nevertheless
 */
void alongside_agents_drop(struct alongside_agents *agents, uint64_t time,
                           bool (*needed)(const void *user, const struct alongside_agent *agent),
                           const void *user);

#endif
