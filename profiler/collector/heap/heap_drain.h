/*
 * Drains the rings of a session that records the heap: replays the events of all threads of a process in the order of
 * their times.
 *
 * A look finds all events older than it, with one exception: a thread may have read the clock for an event and not yet
 * published it. The thread then has `busy` set. Events are replayed up to the horizon, the last published time of such a
 * thread.
 */
#ifndef PROFILER_COLLECTOR_HEAP_HEAP_DRAIN_H
#define PROFILER_COLLECTOR_HEAP_HEAP_DRAIN_H

#include "profiler/collector/rings/slots.h"

extern const struct sfb_recorder_heap_calls sfb_recorder_heap_drain;

#endif
