/* /tmp/perf-PID.map: names of code that a program made at run time. */
#ifndef RECORDER_PERF_MAP_H
#define RECORDER_PERF_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include "sfb/recording.h"

/*
 * Copies it into the recording, if it is there: a regular file of the process's user, of 64 MiB at most.
 *
 * @param pid    as the process knows itself
 * @param id     in the recording
 * @param owner  the process's user
 */
void sfb_recorder_perf_map_take(struct sfb_recording_writer *writer, uint32_t id, pid_t pid,
                                unsigned owner);

#endif
