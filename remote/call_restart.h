/*
 * Which calls a stop leaves as they are. The kernel restarts most of them, with what is left of their
 * time. Some end with EINTR: signal(7), "Interruption of system calls ... by stop signals". Those are
 * issued again; then a time-out would begin anew, so a thread that sleeps in one with a time-out, or
 * perhaps with one, is not stopped.
 */
#ifndef REMOTE_CALL_RESTART_H
#define REMOTE_CALL_RESTART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "remote/task_files.h"

/* @return NULL: a stop costs it nothing; else why it must not be stopped */
const char *remote_call_forbids_stop(const struct remote_task_call *call, pid_t pid);

#endif
