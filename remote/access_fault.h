/* Why a process cannot be read, in words, and what to do about it. */
#ifndef REMOTE_ACCESS_FAULT_H
#define REMOTE_ACCESS_FAULT_H

#include <stdbool.h>
#include <sys/types.h>

#include "sfb/remote.h"

/*
 * Looks for what stands in the way: it has ended, is the kernel's own, is of another machine, or may not be
 * read by this user.
 *
 * @return false: nothing does; else fault is written. errno is EMFILE or ENFILE if it may have been for want of a descriptor
 */
bool remote_access_fault(struct sfb_remote_fault *fault, pid_t pid);

#endif
