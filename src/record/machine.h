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

#endif
