/*
 * The numbers of a recording's processes, threads, functions of interpreters, and of what threads wait for: they ascend, whichever
 * way a process is recorded.
 */
#ifndef PROFILER_COLLECTOR_RINGS_RECORDED_IDS_H
#define PROFILER_COLLECTOR_RINGS_RECORDED_IDS_H

#include <stdint.h>

/* The last ones given; 0: none yet. */
struct sfb_recorder_ids {
    uint32_t process, thread, code, awaited;
};

#endif
