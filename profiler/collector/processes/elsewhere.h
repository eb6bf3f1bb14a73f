/* How a follower of agents works together with another way of recording, which has processes without an agent. */
#ifndef PROFILER_COLLECTOR_PROCESSES_ELSEWHERE_H
#define PROFILER_COLLECTOR_PROCESSES_ELSEWHERE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What records processes another way, where no agent does. Pids are those here. */
struct sfb_recorder_elsewhere {
    void *with; /* NULL: there is no other way */

    /* Writes what has come up to a time. CLOCK_MONOTONIC here, in ns. */
    void (*catch_up)(void *with, uint64_t time);

    /*
     * What has been written of a process, and of a thread, belongs to the agent from now on.
     *
     * @return its id in the recording; 0: it is not in it
     */
    uint32_t (*hand_over)(void *with, pid_t pid, uint64_t *weight_ns);
    uint32_t (*hand_over_thread)(void *with, pid_t tid);

    /* An agent records a process from a time on, and no more; its slot ends, and may have another one. */
    void (*agent_came)(void *with, uint32_t slot, pid_t pid, uint64_t since);
    void (*agent_left)(void *with, pid_t pid, uint64_t until);
    void (*agent_ended)(void *with, uint32_t slot);

    /* @return whether a process that has no agent is recorded from now on */
    bool (*records)(void *with, pid_t pid);

    /* @return CPU time of the samples that have been written of it, in ns */
    uint64_t (*weight_of)(void *with, pid_t pid);

    /* @return its id in the recording; 0: it is not in it */
    uint32_t (*id_of)(void *with, uint32_t pid);
};

#endif
