/* What a thread that sleeps waits for, by the arguments of its call: a futex, or what a descriptor stands for. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_AWAITED_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_AWAITED_H

#include "profiler/collector/outside/looks_state.h"

/*
 * Finds out what the call of looks->look waits for, and records it, once.
 *
 * @param id  written: in the recording; 0: its call waits for nothing that has a name, or that is not known
 * @return false: the recording cannot be written, or no memory
 */
bool look_awaited_find(struct looks *looks, struct look_process *process, pid_t tid, uint32_t *id);

void look_awaited_free(struct look_awaited *awaited);

#endif
