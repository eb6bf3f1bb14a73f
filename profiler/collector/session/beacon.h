/*
 * Sealed memory files, and the beacon: a page by which agents recognise the recorder, and see that it lives. Layout and
 * reasons: struct sfb_shared_beacon.
 */
#ifndef PROFILER_COLLECTOR_SESSION_BEACON_H
#define PROFILER_COLLECTOR_SESSION_BEACON_H

#include <stddef.h>

#include "profiler/protocol/shared.h"

/*
 * Makes a memory file of fixed size, also under a lower RLIMIT_FSIZE if its soft limit may be raised.
 *
 * @param fd  written, -1 if not opened; also on failure
 *
 * @return its mapping; NULL: *what names the failed call; see errno
 */
void *sfb_beacon_memory(int *fd, const char *name, size_t size, const char **what);

/*
 * Makes a beacon that is lit until the calling thread dies, or puts it out.
 *
 * @param fd      written, -1 if not opened; also on failure
 * @param memory  descriptor of the memory that it stands for
 *
 * @return as sfb_beacon_memory()
 */
struct sfb_shared_beacon *sfb_beacon_light(int *fd, int memory, const uint8_t key[16],
                                           const char **what);

#endif
