/*
 * Walks of a core's threads. Of all that reads cores, this and what it stands on know the machine: it is
 * compiled for each, and the one that is not this program's has names that begin with other_.
 */
#ifndef REMOTE_CORE_WALK_H
#define REMOTE_CORE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/remote.h"

struct sfb_memory;
struct sfb_modules;

/* Where a walk begins, and by what it reads. */
struct remote_core_start {
    const uint64_t *words; /* registers in the kernel's order: NT_PRSTATUS */
    struct sfb_memory *memory;
    const struct sfb_modules *modules;
    size_t max_frames;
};

/*
 * Walks a thread, and says which system call it was in.
 *
 * @param out  its frames, for free(), end and call are written
 */
void remote_core_walk(struct sfb_remote_thread *out, const struct remote_core_start *start);

/* The same for the other machine of the two. */
void other_remote_core_walk(struct sfb_remote_thread *out, const struct remote_core_start *start);

#endif
