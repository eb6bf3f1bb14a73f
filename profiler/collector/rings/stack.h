/* A stack as sent by an agent. */
#ifndef PROFILER_COLLECTOR_RINGS_STACK_H
#define PROFILER_COLLECTOR_RINGS_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is a complete CBF of this machine. */
bool sfb_recorder_is_cbf(const void *bytes, size_t size);

#endif
