/* Machine-dependent functions, in machine_*.c. */
#ifndef PROFILER_AGENT_MACHINE_H
#define PROFILER_AGENT_MACHINE_H

#include <stdbool.h>

#include "sfb/abi.h"

extern const enum sfb_abi sfb_machine_abi;

/*
 * Whether the calling thread has the C library's thread-local storage, which holds errno and the agent's variables. A
 * thread of clone() may have another, or nothing: then neither may be touched.
 */
bool sfb_machine_is_libc_thread(void);

/* Whether a signal arrived when a system call had just returned. @param context  of the signal's handler */
bool sfb_machine_is_behind_call(const void *context);

/*
 * Whether the signal made a system call return EINTR; restarts the call if it had only waited. For signals that may
 * interrupt a thread on entry to the kernel.
 */
enum sfb_machine_call { SFB_CALL_UNHARMED, SFB_CALL_RESTARTED, SFB_CALL_INTERRUPTED };
enum sfb_machine_call sfb_machine_restart_call(void *context);

/* After a system call: whether it was rt_sigprocmask(), as far as registers show. It may have unblocked a pending signal. */
bool sfb_machine_has_unblocked(const void *context);

#endif
