/*
 * The walker's interface for front doors, beside <sfb/walk.h>: to start, and to go on from the frame of
 * a fast walk. Memory and modules are passed in; the walker knows no process.
 */
#ifndef SFB_UNWIND_WALK_WALKER_H
#define SFB_UNWIND_WALK_WALKER_H

#include "unwind/walk/walk_state.h"

/*
 * Puts a walker on its first frame.
 *
 * @param flags    enum sfb_walker_flags
 * @param modules  of the address space; borrowed
 * @param memory   of the stack; borrowed. NULL: own_memory, which the caller sets
 */
void sfb_walker_start(struct sfb_walk *out, struct sfb_context *start, enum sfb_frame_kind kind,
                      uint32_t flags, const struct sfb_modules *modules, struct sfb_memory *memory);

/* Puts the walker on a frame further out: a return address found by tables. */
void sfb_walker_resume(struct sfb_walk *walker, uint64_t pc, uint64_t sp, uint64_t fp);

/* The first part of sfb_walker_step(). */
enum sfb_status sfb_walker_advance(struct sfb_walk *walker);

/* The second part: finds the registers that sfb_walker_advance() lacked, and steps. */
enum sfb_status sfb_walker_find_registers(struct sfb_walk *walker);

/* Goes to the next frame, which is then walker->current: sfb_walker_next() without the checks. */
static inline enum sfb_status sfb_walker_step(struct sfb_walk *walker)
{
    enum sfb_status status = sfb_walker_advance(walker);

    if (status == SFB_NO_REGISTER && walker->wants_registers)
        status = sfb_walker_find_registers(walker);
    return status;
}

#endif
