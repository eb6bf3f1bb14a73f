/* Notices the exits of followed processes: children are reaped here, others elsewhere. */
#ifndef PROFILER_COLLECTOR_PROCESSES_ENDS_H
#define PROFILER_COLLECTOR_PROCESSES_ENDS_H

#include "profiler/collector/processes/followed.h"

/* Reports an exit to the drain, once. */
void sfb_recorder_ends_tell(struct sfb_recorder_follow *follow, uint32_t slot, uint32_t end,
                            uint32_t status, uint64_t cpu_ns);

/* Reports an exit that was reaped before the process's slot was read. @return whether there was one */
bool sfb_recorder_ends_tell_of_reaped(struct sfb_recorder_follow *follow, uint32_t slot);

/* Reaps ended children, and checks for others that have ended. */
void sfb_recorder_ends_look(struct sfb_recorder_follow *follow);

#endif
