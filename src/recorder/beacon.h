/*
 * Memory files that are sealed, and the beacon: the page by which agents know the recorder, and that it lives. The
 * layout, and why it is so: struct sfb_shared_beacon.
 */
#ifndef RECORDER_BEACON_H
#define RECORDER_BEACON_H

#include <stddef.h>

#include "recorder/shared.h"

/*
 * Makes a memory file of a size that is fixed, also where RLIMIT_FSIZE is lower and may be raised.
 *
 * @param fd  written, -1: none; also on failure
 *
 * @return it, mapped; NULL: *what says what could not be done, and errno why
 */
void *sfb_beacon_memory(int *fd, const char *name, size_t size, const char **what);

/*
 * Makes a beacon that is lit until the calling thread dies, or puts it out.
 *
 * @param fd      written, -1: none; also on failure
 * @param memory  the descriptor of what it stands for
 *
 * @return as sfb_beacon_memory()
 */
struct sfb_shared_beacon *sfb_beacon_light(int *fd, int memory, const uint8_t key[16],
                                           const char **what);

#endif
