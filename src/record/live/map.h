/* The map of the live table: made, given memory piece by piece, and taken away. (recorder/live.h) */
#ifndef SFB_RECORD_LIVE_MAP_H
#define SFB_RECORD_LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/live.h"

/*
 * Makes a map: a file of mode 0600 in $XDG_RUNTIME_DIR, else in /dev/shm. Where none can be made, private memory.
 *
 * @param size  of all of it
 * @param file  whether there is to be a file
 * @return NULL: no memory; errno says why
 */
struct sfb_live *sfb_live_map_make(uint64_t size, bool file);

/* Replaces the map by empty memory of no file: a thread that is late may still write there. Removes the file. */
void sfb_live_map_drop(void);

/* The same in a child, of its parent's map: the file stays, and only the parent holds its lock. Signals: safe. */
void sfb_live_map_leave(void);

/*
 * Sees to it that bytes of the map have memory: where the file system is full, a write would end the process (SIGBUS).
 *
 * @return false: there is none
 */
bool sfb_live_map_populate(struct sfb_live *map, uint64_t at, uint64_t size);

/* Removes the file; who has the map open still reads it. */
void sfb_live_map_unlink(void);

/* @return its path; "": there is none */
const char *sfb_live_map_path(void);

#endif
