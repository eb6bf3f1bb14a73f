/* Which thread has the mutex that others wait for, and where it is. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_HOLDERS_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_HOLDERS_H

#include "profiler/collector/outside/looks_state.h"

/*
 * Notes that a thread waits in the futex call of looks->look. If that is for a mutex of glibc's, its owner is looked for at the end
 * of this round.
 *
 * @param seen  CLOCK_MONOTONIC, of the look
 * @return false: no memory
 */
bool look_holder_due(struct looks *looks, struct look_process *process, pid_t waiter,
                     uint64_t seen);

/* At the end of a round: finds the owners' stacks. @return false: the recording cannot be written, or no memory */
bool look_holders_find(struct looks *looks);

#endif
