/* What `sfb ctl` asks of a recording that runs: marks, and how it stands. */
#ifndef CLI_RECORD_CONTROL_H
#define CLI_RECORD_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sfb/recording.h"

struct record_control {
    int fd; /* -1: no socket could be made, and nothing is answered */
    uint64_t begun;
    unsigned marks;
};

struct record_controlled {
    struct sfb_recording_writer *writer;
    const char *file; /* name of the recording */
    pid_t root;       /* the process that is recorded with its children; 0: all */

    /* Whether a process is recorded that is no child of that one. NULL: none is. */
    bool (*knows)(void *user, pid_t pid);
    void *user;
};

/* Begins to listen. */
void record_control_open(struct record_control *out);

/* Answers what was asked since the last call. It does not wait. */
void record_control_take(struct record_control *control, const struct record_controlled *what);

void record_control_close(struct record_control *control);

#endif
