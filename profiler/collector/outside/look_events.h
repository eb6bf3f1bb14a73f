/*
 * Which threads have events of their waits. An event costs a thread about a microsecond at each wait, which counts where it waits
 * thousands of times a second: such threads are looked at alone.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_EVENTS_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_EVENTS_H

#include "profiler/collector/outside/looks_state.h"

/* A thread was found; in a pause it has no events. */
void look_events_begin(struct looks *looks, struct look_thread *thread);

/* Judges once a second what the waits since then have cost. @return false: the recording cannot be written, or no memory */
bool look_events_judge(struct looks *looks, uint64_t now);

/* A sample came. @return false: there were too many since the last judgement. They end, until the next one */
bool look_events_allow(struct looks *looks);

/* In a pause no thread pays for records that are left out. After it look_events_begin() gives each thread its events again. */
void look_events_pause(struct looks *looks, uint64_t now, bool paused);

void look_events_end(struct looks *looks, struct look_thread *thread);

#endif
