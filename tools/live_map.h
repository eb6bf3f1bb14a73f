/*
 * The live table of a process, read from its file, whether the process runs or is gone. The file is read, not mapped:
 * one that shrinks cannot end this program. No byte of it is trusted.
 */
#ifndef LIVE_MAP_H
#define LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/live_tails.h"
#include "recorder/live_view.h"

enum live_map_state {
    LIVE_MAP_RUNNING,
    LIVE_MAP_GONE,    /* the process was killed, or ended without a word */
    LIVE_MAP_REPLACED /* it executed another program */
};

struct live_map {
    int fd;
    struct sfb_live head; /* as it was when the file was opened */
    enum live_map_state state;

    /* From live_map_read() on. */
    struct sfb_live_view view;
    struct sfb_live_sum sum;
    uint8_t *stacks, *lists;
    uint64_t *buckets;
};

/*
 * Opens one.
 *
 * @param out  to be closed if it returns NULL
 * @return NULL, or why it cannot be read, or is none
 */
const char *live_map_open(struct live_map *out, const char *path);

/* Reads all of it, and adds up. @return NULL, or why not */
const char *live_map_read(struct live_map *map);

/* Looks at the tail of each block of a process that runs. @param out  memory for it */
void live_map_check_tails(struct live_map *map, struct sfb_live_tails *out);

void live_map_close(struct live_map *map);

/* --- files ------------------------------------------------------------------------------------------ */

struct live_map_file {
    char path[512];
    uint64_t pid, ticks; /* of its name */
};

/*
 * Finds the files of live tables, in $XDG_RUNTIME_DIR, /run/user/UID and /dev/shm.
 *
 * @param pid  of this process alone; 0: all
 * @param out  to be freed
 * @return how many; SIZE_MAX: no memory
 */
size_t live_map_find(uint64_t pid, struct live_map_file **out);

#endif
