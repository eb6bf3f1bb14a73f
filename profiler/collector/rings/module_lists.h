/* Copies lists of modules from the shared memory to the recording. */
#ifndef PROFILER_COLLECTOR_RINGS_MODULE_LISTS_H
#define PROFILER_COLLECTOR_RINGS_MODULE_LISTS_H

#include "profiler/collector/rings/slots.h"

/* Copies a process's new list, if there is one, and lets the agent write the next. */
void sfb_recorder_modules_take(struct sfb_recorder_drain *drain, uint32_t slot);

#endif
