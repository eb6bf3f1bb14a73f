/*
 * Whether a thread that could run is on a CPU. A thread that waits for one stands where the scheduler took it away: such places
 * are the scheduler's choice, and as samples they would have more than their part.
 *
 * /proc counts how often a thread has got a CPU (schedstat) and how often it has left one (status): the difference is one
 * more while it is on one.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_CPU_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_CPU_H

#include "profiler/collector/outside/looks_state.h"

enum look_cpu {
    LOOK_ON_CPU, /* or /proc does not say */
    LOOK_QUEUED,
};

/* Of the thread that looks. */
void look_cpu_open(struct looks *looks);
void look_cpu_round_begin(struct looks *looks);
void look_cpu_round_end(struct looks *looks);
void look_cpu_close(struct looks *looks);

/* @param thread  in state R; its cpu, turns and sampled were just read */
enum look_cpu look_cpu_find(const struct looks *looks, const struct look_process *process,
                            struct look_thread *thread);

#endif
