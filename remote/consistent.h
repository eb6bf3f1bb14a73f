/*
 * All threads of a process at one moment. Each stands then, by a stop, or has slept since before that moment: a thread whose
 * call would suffer from a stop is not stopped, and what was read of it counts if it has not run until the others go on.
 */
#ifndef REMOTE_CONSISTENT_H
#define REMOTE_CONSISTENT_H

#include <stdbool.h>
#include <stddef.h>

#include "remote/halt.h"
#include "remote/thread_read.h"

struct remote_member {
    struct remote_thread thread;
    struct remote_halt halt;
    bool asked;  /* to stop */
    bool stands; /* until remote_crowd_read() returns */
    bool job_control;
};

struct remote_crowd {
    struct remote_member *members; /* by their numbers; for remote_crowd_free() */
    size_t count, room;
};

/*
 * Stops the threads, copies registers and stacks, and lets them go on.
 *
 * @param out  all zero
 *
 * @return false: no memory, or the process is gone: errno says which. Then, too, all threads go on
 */
bool remote_crowd_read(struct remote_crowd *out, const struct remote_source *from);

void remote_crowd_free(struct remote_crowd *crowd);

#endif
