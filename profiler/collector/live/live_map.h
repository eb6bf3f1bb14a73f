/*
 * The live table of a process, read from its file while the process runs or after it is gone. The file is read, not
 * mapped: a shrinking file cannot end this program. No byte of it is trusted.
 */
#ifndef PROFILER_COLLECTOR_LIVE_LIVE_MAP_H
#define PROFILER_COLLECTOR_LIVE_LIVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profiler/protocol/live_tails.h"
#include "profiler/protocol/live_view.h"

enum live_map_state {
    LIVE_MAP_RUNNING,
    LIVE_MAP_HELD, /* mapped, but not by a process of that pid here: one of another namespace, or a child */
    LIVE_MAP_GONE,    /* the process was killed, or ended without marking it */
    LIVE_MAP_REPLACED /* the process executed another program */
};

struct live_map {
    int fd;
    struct sfb_live head; /* as of the opening of the file */
    enum live_map_state state;
    uid_t owner; /* of the file */
    nlink_t links;
    uint32_t
        eras; /* a bit for each era whose blocks are read; all, unless the caller changes it: live_marks.h */

    /* Valid after live_map_read(). */
    struct sfb_live_view view;
    struct sfb_live_sum sum;
    struct sfb_live_stack *stacks;
    struct sfb_live_piece *pieces;
    uint8_t *lists;
};

struct live_map_file {
    char path[512];
    uint64_t pid, ticks; /* from its name */
    bool unnamed;        /* its path leads to what the process has mapped */
};

/*
 * Opens a file that the user has named.
 *
 * @param out  to be closed even if it returns NULL
 * @return NULL, or why the file cannot be read, or is no live table
 */
const char *live_map_open(struct live_map *out, const char *path);

/* Opens a file found in a folder that other users may write to: no link, and its table must match its name. */
const char *live_map_open_found(struct live_map *out, const struct live_map_file *file);

/*
 * Whether a table that was found may be shown as its process's. A file's owner can write any table into it. So an owner is
 * believed only if a false table gains him nothing:
 *
 *   owner of the file           process (real, effective, saved, file system's user)      believed
 *   --------------------------  --------------------------------------------------------  --------
 *   root                        any, also one that has ended                              yes
 *   the caller                  any, also one that has ended                              yes
 *   another user, U             U in all four, and U may trace it                         yes
 *   U                           U in all four, but it has dropped other rights, or has    no
 *                               forbidden core dumps: the kernel keeps U away from it
 *   U                           U in some: started by U, and set-user-ID of another; or   no
 *                               root's, or another user's, which acts as U for a while
 *   U                           U in none, or it has ended                                no
 *   one that this user          any                                                       no
 *   namespace does not map
 *
 * The caller is the effective user of this process. To show another table, name its file.
 */
bool live_map_is_trusted(const struct live_map *map);

/* Removes the file of a table that is no longer mapped. @return false: it is mapped, or see errno */
bool live_map_remove(const struct live_map *map, const char *path);

/*
 * Reads the whole table and adds it up. Contradictions are left out, and counted in `sum.bad`. Memory: at most 64 MiB, or
 * four times what the file has on disk.
 *
 * @return NULL, or the reason of a failure
 */
const char *live_map_read(struct live_map *map);

/* Checks the tail of each block of a running process. @param out  memory for it */
void live_map_check_tails(struct live_map *map, struct sfb_live_tails *out);

void live_map_close(struct live_map *map);

/* Whether a slot has a live block of a wanted era. */
static inline bool live_map_wants(const struct live_map *map, struct sfb_live_slot slot)
{
    return sfb_live_is_block(slot.block) && map->eras >> sfb_live_era_of(slot.what) & 1;
}

/* --- its bytes -------------------------------------------------------------------------------------- */

/* @return false: see errno; EIO: the file ends before */
bool live_read_at(int fd, void *out, size_t size, uint64_t at);

/* @return NULL, or why it is not a header of a live table */
const char *live_read_head(int fd, struct sfb_live *out);

enum { LIVE_READ_SLOTS = 256 };

/* Calls `each` for the slots in the file, in pieces of at most LIVE_READ_SLOTS. @return false: stopped, or see errno */
bool live_read_slots(const struct live_map *map,
                     bool (*each)(void *user, const struct sfb_live_slot *slots, uint32_t first,
                                  uint32_t count),
                     void *user);

/* --- the process ------------------------------------------------------------------------------------ */

/* @return start of a process in clock ticks; 0: no such process */
uint64_t live_process_ticks(uint64_t pid);

/* Whether a process has a file mapped. */
bool live_process_has_mapped(uint64_t pid, int fd);

/* Whether a user may trace a process without a capability: then the user could change the table itself, too. */
bool live_process_is_of(uint64_t pid, uid_t user);

/* Whether a uid stands for one user. A user namespace shows all users that it does not map as one uid. */
bool live_user_is_one(uid_t user);

/* --- files ------------------------------------------------------------------------------------------ */

/*
 * Finds the files of live tables in $XDG_RUNTIME_DIR, /run/user/UID and /dev/shm. If no file there is the process's, finds
 * the one that the process has mapped, which root alone can open: root became another user there, and the name was removed.
 *
 * @param pid  only of this process; 0: all
 * @param out  to be freed
 * @return their number; SIZE_MAX: no memory
 */
size_t live_map_find(uint64_t pid, struct live_map_file **out);

#endif
