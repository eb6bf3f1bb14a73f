/* What the front door asks of a walker beside <sfb/walk.h>: to go on from where a stride came to.
 */
#ifndef SFB_UNWIND_WALKER_H
#define SFB_UNWIND_WALKER_H

#include "unwind/arch.h"
#include "unwind/walk_state.h"

/*
 * sfb_walker_init() for this process, from the members that say it: full, full_kind, flags, and
 * what is known of the stack, own_memory. The first frame counts as given.
 */
void sfb_walker_begin(struct sfb_walk *walker);

/* Puts the walker on a frame further out, a return address that tables led to. */
void sfb_walker_resume(struct sfb_walk *walker, uint64_t pc, uint64_t sp, uint64_t fp);

/* The first part of sfb_walker_step(). */
enum sfb_status sfb_walker_advance(struct sfb_walk *walker);

/* Its second part: finds the registers that sfb_walker_advance() missed, and steps. */
enum sfb_status sfb_walker_find_registers(struct sfb_walk *walker);

/* Goes to the next frame, which is then walker->current: sfb_walker_next() without the checks. */
static inline enum sfb_status sfb_walker_step(struct sfb_walk *walker)
{
    enum sfb_status status = sfb_walker_advance(walker);

    if (status == SFB_NO_REGISTER && walker->wants_registers)
        status = sfb_walker_find_registers(walker);
    return status;
}

/* @return whether all registers are known of the frame that the walker stands on */
static inline bool sfb_walker_is_full(const struct sfb_walk *walker)
{
    struct sfb_regs full;

    sfb_arch_regs(&full, walker->full);
    return walker->regs.sp == full.sp && walker->regs.pc == full.pc;
}

/* The address that tables are asked for: a call's own, not that of what follows it. */
static inline uint64_t sfb_walker_lookup_pc(const struct sfb_walk *w)
{
    return w->regs.pc - (w->current.kind == SFB_FRAME_RA);
}

/* Takes from the budget. @return false: nothing is left of it */
static inline bool sfb_walker_spend(struct sfb_walk *w, uint64_t work)
{
    if (work >= w->work) {
        w->work = 0;
        return false;
    }
    w->work -= (uint32_t)work;
    return true;
}

/* @return a number that no other walk of this process has; kept in table_memory.user */
uint64_t sfb_walker_name(struct sfb_walk *walker);

/* The id under which what is learnt of a pc in w->module may be remembered; 0: it may not. */
static inline uint32_t sfb_walker_cache_id(const struct sfb_walk *w)
{
    return w->flags & SFB_WALKER_NO_CACHE || !w->module ? 0 : w->module->id;
}

/* Leaves the module that holds pc in w->module. */
static inline bool sfb_walker_find_module(struct sfb_walk *w, uint64_t pc)
{
    if (!w->module || pc - w->module->start >= w->module->end - w->module->start)
        w->module = w->modules->find(w->modules, pc, w->room);
    return w->module != NULL;
}

#endif
