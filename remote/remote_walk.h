/* Walks the stack of a thread from what was read of it. */
#ifndef REMOTE_REMOTE_WALK_H
#define REMOTE_REMOTE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "remote/target_memory.h"
#include "remote/thread_look.h"
#include "sfb/remote.h"
#include "sfb/walk.h"

enum remote_walk_end {
    REMOTE_WALK_DONE,
    REMOTE_WALK_NEEDS_REGISTERS, /* a row needs fp, or another register, that no frame has saved */
    REMOTE_WALK_NEEDS_STACK,     /* the copy ends before the stack does */
    REMOTE_WALK_NO_MEMORY
};

struct remote_walk {
    struct sfb_remote_frame *frames; /* for free(); innermost first */
    size_t count, room;
    enum sfb_status end;
    uint64_t cut; /* REMOTE_WALK_NEEDS_STACK: a word that is in no copy */
    bool more; /* words were read that were not in the copy: they hold if the thread has not run */
};

/*
 * Walks. Whatever the result, `out` has the frames up to there, none of them a guess about fp.
 *
 * @param out  all zero, or of a walk before: its room is used again
 */
enum remote_walk_end remote_walk(struct remote_walk *out, const struct remote_look *look,
                                 struct remote_memory *memory, const struct sfb_modules *modules,
                                 size_t max_frames);

#endif
