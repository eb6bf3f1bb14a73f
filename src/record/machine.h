/* What depends on the machine: in machine_*.c. */
#ifndef SFB_RECORD_MACHINE_H
#define SFB_RECORD_MACHINE_H

#include <stdbool.h>

#include "sfb/abi.h"

extern const enum sfb_abi sfb_machine_abi;

/*
 * Whether the calling thread has the C library's thread-local storage, where errno lies, and what the agent keeps. One
 * of clone() may have any other, or none: nothing of it may be touched then.
 */
bool sfb_machine_is_libc_thread(void);

/* Whether a signal came when a system call had just returned. @param context  of the signal's handler */
bool sfb_machine_is_behind_call(const void *context);

/*
 * Whether a system call returned EINTR at the signal; does it again if that is one that has only waited. For signals that
 * may come while a thread enters the kernel.
 */
enum sfb_machine_call { SFB_CALL_UNHARMED, SFB_CALL_RESTARTED, SFB_CALL_INTERRUPTED };
enum sfb_machine_call sfb_machine_restart_call(void *context);

/* Behind a system call: whether that was rt_sigprocmask(), as far as registers tell. A signal may have waited for it. */
bool sfb_machine_has_unblocked(const void *context);

#endif
