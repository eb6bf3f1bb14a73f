/* The beginning and end of a process in the recording. */
#ifndef PROFILER_COLLECTOR_RINGS_PROCESS_H
#define PROFILER_COLLECTOR_RINGS_PROCESS_H

#include "profiler/collector/rings/slots.h"

/* Begins the process in a free slot, if there is one. A process that executed it is ended first. */
void sfb_recorder_process_begin(struct sfb_recorder_drain *drain, uint32_t slot);

/* Reads the last records of its threads, ends them and the process, and frees its slot. */
void sfb_recorder_process_end(struct sfb_recorder_drain *drain, uint32_t slot);

#endif
