/* The map of the live table (profiler/protocol/live.h): made, populated piece by piece, and dropped. */
#ifndef PROFILER_AGENT_LIVE_MAP_H
#define PROFILER_AGENT_LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/protocol/live.h"

/*
 * Makes a map: a file of mode 0600 in $XDG_RUNTIME_DIR, else in /dev/shm. If neither works, private memory.
 *
 * @param size   of the whole map, in bytes
 * @param freed  freed blocks that are remembered: a power of two, or 0
 * @param file   false: private memory
 * @return NULL: no memory; see errno
 */
struct sfb_live *sfb_live_map_make(uint64_t size, uint32_t freed, bool file);

/* Removes the file, and replaces the map by private zeroed memory: a late thread may still write there. */
void sfb_live_map_drop(void);

/* Gives up a parent's map in a child. The file stays; only the parent holds its lock. Signals: safe. */
void sfb_live_map_leave(void);

/*
 * Populates a range of the map: on a full file system a write would end the process (SIGBUS). After a refusal it does not
 * ask again for a second.
 *
 * @return false: no memory
 */
bool sfb_live_map_populate(struct sfb_live *map, uint64_t at, uint64_t size);

/* A part of the map that gets its memory element by element. */
struct sfb_live_part {
    uint64_t at;
    uint32_t each; /* bytes of an element */
    uint32_t room; /* elements */
};

/*
 * Ensures that the first elements of a part have memory. Some of the next ones get theirs, too.
 *
 * @param ready  elements that have memory; grows
 * @param end    at most part->room
 *
 * @return false: no memory
 */
bool sfb_live_map_grow(struct sfb_live *map, const struct sfb_live_part *part, uint32_t *ready,
                       uint32_t end);

/* Removes the file. Processes that have it open still read it. */
void sfb_live_map_unlink(void);

/* @return the file's path; "": no file */
const char *sfb_live_map_path(void);

#endif
