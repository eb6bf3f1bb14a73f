/*
 * The live table of a process, read from its file, whether the process runs or is gone. The file is read, not mapped:
 * one that shrinks cannot end this program. No byte of it is trusted.
 */
#ifndef LIVE_MAP_H
#define LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/live_tails.h"
#include "recorder/live_view.h"

enum live_map_state {
    LIVE_MAP_RUNNING,
    LIVE_MAP_HELD, /* it is mapped, but not by a process of that number here: one of another namespace, or a child */
    LIVE_MAP_GONE,    /* the process was killed, or ended without a word */
    LIVE_MAP_REPLACED /* it executed another program */
};

struct live_map {
    int fd;
    struct sfb_live head; /* as it was when the file was opened */
    enum live_map_state state;
    uid_t owner; /* of the file */
    nlink_t links;

    /* From live_map_read() on. */
    struct sfb_live_view view;
    struct sfb_live_sum sum;
    uint8_t *stacks, *lists;
    uint64_t *buckets; /* those in use */
    uint32_t bucket_count;
};

struct live_map_file {
    char path[512];
    uint64_t pid, ticks; /* of its name */
};

/*
 * Opens a file that the user has named.
 *
 * @param out  to be closed if it returns NULL
 * @return NULL, or why it cannot be read, or is none
 */
const char *live_map_open(struct live_map *out, const char *path);

/* Opens one that was found where other users may write, too: no link, and the table that its name says. */
const char *live_map_open_found(struct live_map *out, const struct live_map_file *file);

/* Whether a table that was found is of root, of this user, or of the user of its process, which is there. */
bool live_map_is_trusted(const struct live_map *map);

/* Removes the file of a table that is not mapped any more. @return false: it is, or errno says why */
bool live_map_remove(const struct live_map *map, const char *path);

/*
 * Reads all of it, and adds up. What contradicts itself is left out, and counted in `sum.bad`. Memory: 64 MiB at most, or
 * four times what the file has on its disk.
 *
 * @return NULL, or why not
 */
const char *live_map_read(struct live_map *map);

/* Looks at the tail of each block of a process that runs. @param out  memory for it */
void live_map_check_tails(struct live_map *map, struct sfb_live_tails *out);

void live_map_close(struct live_map *map);

/* --- its bytes -------------------------------------------------------------------------------------- */

/* @return false: errno says why; EIO: the file ends before */
bool live_read_at(int fd, void *out, size_t size, uint64_t at);

/* @return NULL, or why it is no header of a live table */
const char *live_read_head(int fd, struct sfb_live *out);

enum { LIVE_READ_SLOTS = 256 };

/* Calls for the slots that the file has, in pieces of LIVE_READ_SLOTS at most. @return false: it was stopped, or errno says why */
bool live_read_slots(const struct live_map *map,
                     bool (*each)(void *user, const struct sfb_live_slot *slots, uint32_t first,
                                  uint32_t count),
                     void *user);

/* --- the process ------------------------------------------------------------------------------------ */

/* When it started; 0: there is none. */
uint64_t live_process_ticks(uint64_t pid);

/* Whether it has a file mapped. */
bool live_process_has_mapped(uint64_t pid, int fd);

/* Whether a user is one of the process's. */
bool live_process_has_user(uint64_t pid, uid_t user);

/* --- files ------------------------------------------------------------------------------------------ */

/*
 * Finds the files of live tables, in $XDG_RUNTIME_DIR, /run/user/UID and /dev/shm.
 *
 * @param pid  of this process alone; 0: all
 * @param out  to be freed
 * @return how many; SIZE_MAX: no memory
 */
size_t live_map_find(uint64_t pid, struct live_map_file **out);

#endif
