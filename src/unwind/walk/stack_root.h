/* Where a process or a thread began: the frames that have no caller. */
#ifndef SFB_UNWIND_WALK_STACK_ROOT_H
#define SFB_UNWIND_WALK_STACK_ROOT_H

#include <stdbool.h>

#include "unwind/machine/arch.h"
#include "unwind/walk/walk_state.h"

/* Nearly every frame is far from both entry points, and this is all that it pays for them. */
static inline bool sfb_stack_root_is_near(const struct sfb_walk *w, uint64_t pc)
{
    return pc - w->modules->entries.program < SFB_ARCH_ENTRY_SIZE ||
           pc - w->modules->entries.loader < SFB_ARCH_ENTRY_SIZE;
}

/* @return whether the frame that the walker stands on is at one of the entry points, near pc */
bool sfb_stack_root_is_here(struct sfb_walk *w, uint64_t pc);

/*
 * Ends the walk where tables, or sfb_stack_root_is_here(), say that it is to end.
 *
 * @param remember  the rule cache may keep that this frame has no caller
 * @return SFB_END; SFB_NOT_A_CALL: a return address that is none has led here
 */
enum sfb_status sfb_stack_root_end(struct sfb_walk *w, bool remember);

#endif
