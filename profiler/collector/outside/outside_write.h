/* What a recording from outside writes of processes and threads. Those without samples are left out. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_WRITE_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_WRITE_H

#include "profiler/collector/outside/outside_state.h"

/* Each: @return false: it cannot be written */
bool outside_put(struct outside *outside, enum sfb_status status);
bool outside_begin_process(struct outside *outside, struct outside_process *process);
bool outside_begin_thread(struct outside *outside, struct outside_thread *thread,
                          const struct outside_process *process, uint64_t time);

/* Writes the modules of a process where they have changed. */
bool outside_list_modules(struct outside *outside, struct outside_process *process, uint64_t time);

/*
 * Writes that a process has ended, if the recording has it.
 *
 * @param how  enum sfb_recording_end
 */
void outside_end_entry(struct outside *outside, const struct outside_process *process,
                       uint64_t time, uint32_t how);

/* The same, and forgets it. */
void outside_end_process(struct outside *outside, struct outside_process *process, uint64_t time,
                         uint32_t how);

/* @return CPU time of a process so far; 0: not known */
uint64_t outside_cpu_of(struct outside *outside, uint32_t pid);

#endif
