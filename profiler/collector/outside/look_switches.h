/*
 * Records of context switches and of wake-ups: when a wait began and ended, where, and which thread ended it. Waits that no look
 * has seen have their place by them.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_SWITCHES_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_SWITCHES_H

#include "profiler/collector/outside/looks_state.h"
#include "profiler/collector/outside/perf_record.h"

/*
 * A record of these events. Records come in the order of their times.
 *
 * @return false: the recording cannot be written, or no memory
 */
bool look_switches_take(struct looks *looks, const struct perf_record *record,
                        const struct perf_ids *ids);

#endif
