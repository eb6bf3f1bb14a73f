/* Registers of a thread that ptrace holds: tracee_<machine>.c. */
#ifndef REMOTE_TRACEE_H
#define REMOTE_TRACEE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "sfb/context.h"

struct remote_tracee {
    pid_t tid;
    struct user_regs_struct raw;
};

/* One system call. @return false: errno says why not; EINVAL: of another machine */
bool remote_tracee_read(struct remote_tracee *out, pid_t tid);

void remote_tracee_registers(struct sfb_context *out, const struct remote_tracee *tracee);

/* @return whether a system call has just ended with EINTR */
bool remote_tracee_was_interrupted(const struct remote_tracee *tracee);

/*
 * Makes the thread issue its call again.
 *
 * @param first  the call's first argument, where the machine overwrites it with the result
 * @return false: the instruction before the pc is no call, or errno says why not
 */
bool remote_tracee_issue_again(struct remote_tracee *tracee, uint64_t first);

#endif
