/*
 * The rings of a session that records the heap: events of all threads of a process, in the order of their times.
 *
 * An event is older than the look that finds it. So all that is older than a look is there, but for what a thread has
 * read the clock for and not yet published: it says so (`busy`). Up to there, the horizon, events are replayed.
 */
#ifndef RECORDER_HEAP_DRAIN_H
#define RECORDER_HEAP_DRAIN_H

#include "recorder/slots.h"

extern const struct sfb_recorder_heap_calls sfb_recorder_heap_drain;

#endif
