/* Cores that are packed: systemd-coredump's .zst. */
#ifndef REMOTE_CORE_UNPACK_H
#define REMOTE_CORE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/remote.h"

/*
 * Unpacks a core into a file without a name, in $TMPDIR or /var/tmp. Pages of zeros take no room there.
 *
 * @param fd   of any file; another one if it was packed, and then this one is closed
 * @param max  bytes that it may have unpacked
 *
 * @return false: packed by something else, damaged, larger, or no room; *fd stays open
 */
bool remote_core_unpack(int *fd, uint64_t max, struct sfb_remote_fault *fault);

#endif
