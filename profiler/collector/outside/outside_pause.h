/*
 * Pauses of a recording from outside. Events count on meanwhile, for what they say of processes and files is needed later;
 * their samples are left out, and so is the CPU time of processes.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_PAUSE_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_PAUSE_H

#include "profiler/collector/outside/outside_state.h"

/*
 * Pauses the recording, or goes on, from a time on, and writes nothing of that.
 *
 * Cost: a read of /proc for each process, where the CPU time of processes comes from there.
 *
 * @return false: no memory
 */
bool outside_pause(struct outside *outside, uint64_t time, bool paused);

/* Whether it was paused at a time: records come late. */
bool outside_was_paused(const struct outside *outside, uint64_t time);

/* A sample is left out. @param weight  CPU time that it stands for, in ns */
void outside_pass_over(struct outside *outside, uint32_t pid, uint64_t weight);

/* @param cpu  of the process now, in ns; 0: not known. @return CPU time of it while the recording was paused, in ns */
uint64_t outside_paused_of(const struct outside *outside, const struct outside_process *process,
                           uint64_t cpu);

#endif
