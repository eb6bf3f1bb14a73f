/* Begins to record the process: preloaded, or at the program's request. */
#ifndef PROFILER_AGENT_CPU_BEGIN_H
#define PROFILER_AGENT_CPU_BEGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/protocol/shared.h"

/*
 * Waits until no interrupted handler uses the memory of the previous recording, which is over.
 *
 * @return false: one still does after a second
 */
bool sfb_begin_may(void);

/*
 * @param shared     mapped as long as the process lives
 * @param cpu_start  CPU time of the process at which its recording begins
 * @param others     other threads may exist: these are recorded too
 *
 * @return false: something is missing; the process is unchanged
 */
bool sfb_begin(struct sfb_shared *shared, uint64_t cpu_start, bool others);

#endif
