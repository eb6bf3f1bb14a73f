/* The inside of alongside: the processes of a session of agents, and what records each of them. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_STATE_H
#define PROFILER_COLLECTOR_OUTSIDE_ALONGSIDE_STATE_H

#include "profiler/collector/outside/alongside_agents.h"
#include "profiler/collector/outside/alongside_events.h"
#include "profiler/collector/outside/copy_depth.h"
#include "profiler/collector/outside/outside.h"
#include "profiler/collector/outside/perf_weight.h"

struct alongside_process {
    uint32_t pid;
    uint64_t since; /* its program's exec, or its fork */
    uint64_t on;    /* since when the common events count in it; 0: they do not */
    uint64_t due;   /* when it gets events of its own, if no agent has come */
    bool armed;     /* its next exec turns the common events on */
    bool parted;    /* the part that the recording has from outside has ended, or not begun */
    bool refused;   /* events of its own */
    bool blind; /* it has not inherited events, or they have ended: its own ones say what it does */
    bool forked;              /* from a process of that kind */
    bool executed;            /* another program since */
    bool missed;              /* what it has done until its own events are open */
    uint64_t silent;          /* when its own events were seen to have ended; 0: they have not */
    struct alongside_own own; /* count 0: none */
    uint64_t own_since;
    struct copy_depth depth;
    uint64_t exited;       /* its last thread; 0: it runs */
    uint64_t common_count; /* of common events, in its threads that have ended */
    uint64_t common_last;  /* at the last sample */
    uint64_t common_base;  /* at the exec, of the program before */
    uint64_t common_weight;
    uint64_t own_count; /* of events of its own that were closed */
};

struct alongside {
    struct alongside_events events;
    struct outside *outside;
    struct sfb_recorder_follow *follow;
    struct perf_weights weights;
    REPORT_ARRAY(struct alongside_process) processes;
    struct alongside_agents agents;
    uint64_t off;   /* when the common events were last turned off */
    uint64_t call;  /* the call before */
    uint64_t taken; /* records up to this time */
    bool failed;
};

/* --- alongside_processes.c --------------------------------------------------------------------------------- */

/* @return NULL: not known */
struct alongside_process *alongside_process_find(const struct alongside *beside, uint32_t pid);

/*
 * Begins one, in place of an earlier one of its number.
 *
 * @param since  CLOCK_MONOTONIC, of its fork or exec
 * @return NULL: no memory
 */
struct alongside_process *alongside_process_add(struct alongside *beside, uint32_t pid,
                                                uint64_t since);

/* Ends one. @param time  then: agents of a later process with its number stay */
void alongside_process_forget(struct alongside *beside, struct alongside_process *process,
                              uint64_t time);

/* Closes and frees what it has. */
void alongside_process_release(struct alongside_process *process);

/* Whether the common events count in it. */
bool alongside_process_is_on(const struct alongside *beside,
                             const struct alongside_process *process);

/* @return the agent of the program that runs in it; NULL: none has come */
const struct alongside_agent *alongside_process_agent(const struct alongside *beside,
                                                      const struct alongside_process *process);

/* Whether an agent records at a time. @param agent  NULL: it does not */
bool alongside_agent_records_at(const struct alongside_agent *agent, uint64_t time);

/* Opens events of its own, in place of earlier ones. @param stack  bytes of a copy @return false: refused, or it has ended */
bool alongside_process_open_own(struct alongside *beside, struct alongside_process *process,
                                uint32_t stack);

/* Ends processes whose last thread has exited before a time. */
void alongside_processes_end_exited(struct alongside *beside, uint64_t before);

/* Opens and closes events as agents have come and left since the last call. @param now  CLOCK_MONOTONIC */
void alongside_processes_tend(struct alongside *beside, uint64_t now);

/* --- alongside_records.c ----------------------------------------------------------------------------------- */

/* Takes the records up to a time. @return false: the recording cannot be written, or no memory */
bool alongside_records_take(struct alongside *beside, uint64_t until);

#endif
