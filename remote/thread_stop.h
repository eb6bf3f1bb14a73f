/*
 * Registers and stack of a thread that is stopped for them. Between stop and go stand no more system calls than have
 * to: registers, stack, go; where the stop has ended a call with EINTR, four more.
 */
#ifndef REMOTE_THREAD_STOP_H
#define REMOTE_THREAD_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/halt.h"
#include "remote/thread_look.h"

/* Which bytes of a stopped thread are copied. */
struct remote_wanted {
    size_t most;    /* of the stack that sp is on */
    uint64_t other; /* an address on another one; 0: none */
};

/*
 * Stops the thread, copies, and lets it go on.
 *
 * @param job_control  it was stopped already, by a signal: a call that ended with EINTR did so for that
 * @param cause        written but for REMOTE_LOOK_DONE: static text, or NULL
 */
enum remote_look_end remote_look_stopped(struct remote_look *out,
                                         const struct remote_memory *memory, int tasks, pid_t tid,
                                         const struct remote_wanted *wanted, bool job_control,
                                         const char **cause);

/* The parts of it, for more than one thread at a time. */

/* @return REMOTE_LOOK_DONE: it was REMOTE_HALTED */
enum remote_look_end remote_stop_end(enum remote_halted halted, const char **cause);

/* Copies from a thread that stands, and repairs its call. @return false: not whole; *cause says why */
bool remote_stop_copy(struct remote_look *out, const struct remote_memory *memory, int tasks,
                      const struct remote_halt *halt, const struct remote_wanted *wanted,
                      bool job_control, const char **cause);

#endif
