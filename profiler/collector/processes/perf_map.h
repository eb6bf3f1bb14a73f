/* /tmp/perf-PID.map: names of code that a program generated at run time. */
#ifndef PROFILER_COLLECTOR_PROCESSES_PERF_MAP_H
#define PROFILER_COLLECTOR_PROCESSES_PERF_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include "sfb/recording.h"

/*
 * Copies the file into the recording if it exists: a regular file of the process's user, at most 64 MiB.
 *
 * @param pid    in the process's own namespace
 * @param id     in the recording
 * @param owner  the process's user
 */
void sfb_recorder_perf_map_take(struct sfb_recording_writer *writer, uint32_t id, pid_t pid,
                                unsigned owner);

#endif
