/* What `sfb ctl` asks of a recording that runs: marks, pauses, and how it stands. */
#ifndef PROFILER_COLLECTOR_RINGS_CONTROL_H
#define PROFILER_COLLECTOR_RINGS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sfb/recording.h"

struct sfb_recorder_control {
    int fd; /* -1: no socket could be made, and nothing is answered */
    uint64_t begun;
    uint64_t paused_since, paused_ns; /* 0: it is not paused; and before */
    unsigned marks;
};

/* The recording that questions are about. */
struct sfb_recorder_controlled {
    struct sfb_recording_writer *writer;
    const char *file; /* name of the recording */
    bool wide;        /* it is of all processes */
    bool heap;        /* it has no samples */
    bool waits;       /* are recorded, too */

    /* Whether a process is recorded, or is the recorder. */
    bool (*knows)(void *user, pid_t pid);

    /* Pauses the recording, or goes on, and writes that. @return false: it cannot be written. NULL: it cannot be paused */
    bool (*pause)(void *user, bool paused);
    /* Marks that programs have set themselves; NULL: none can. */
    unsigned (*marks)(void *user);
    void *user;
};

/* Begins to listen. @param paused  the recording is, from its beginning */
void sfb_recorder_control_open(struct sfb_recorder_control *out, bool paused);

/* Answers what was asked since the last call. It does not wait. */
void sfb_recorder_control_take(struct sfb_recorder_control *control,
                               const struct sfb_recorder_controlled *what);

void sfb_recorder_control_close(struct sfb_recorder_control *control);

#endif
