/* Stack roots: outermost frames, where a process or a thread began. */
#ifndef SFB_UNWIND_WALK_STACK_ROOT_H
#define SFB_UNWIND_WALK_STACK_ROOT_H

#include <stdbool.h>

#include "unwind/machine/arch.h"
#include "unwind/walk/walk_state.h"

/* The cheap test: nearly every frame is far from both entry points, and costs only this. */
static inline bool sfb_stack_root_is_near(const struct sfb_walk *w, uint64_t pc)
{
    return pc - w->modules->entries.program < SFB_ARCH_ENTRY_SIZE ||
           pc - w->modules->entries.loader < SFB_ARCH_ENTRY_SIZE;
}

/* @return whether the walker's frame is at one of the entry points, near pc */
bool sfb_stack_root_is_here(struct sfb_walk *w, uint64_t pc);

/*
 * Ends the walk at an outermost frame, by its table or by sfb_stack_root_is_here().
 *
 * @param remember  the rule cache may keep that this frame is outermost
 * @return SFB_END; SFB_NOT_A_CALL: a word that is not a return address has led here
 */
enum sfb_status sfb_stack_root_end(struct sfb_walk *w, bool remember);

#endif
