/*
 * Position of a walker: the questions that its sources ask, and no steps. Sources include this header;
 * walker.h includes the sources.
 */
#ifndef SFB_UNWIND_WALK_POSITION_H
#define SFB_UNWIND_WALK_POSITION_H

#include <stddef.h>

#include "unwind/machine/arch.h"
#include "unwind/walk/walk_state.h"

/*
 * Placeholder that sfb_modules.find() returns, without scratch, for a module that must be learnt first.
 * It contains no pc.
 */
extern const struct sfb_module sfb_module_not_cached __attribute__((visibility("hidden")));

/*
 * The name of the walk, unique in this process: its key in walk_rules. Assigned at first use, and kept
 * in table_memory.user.
 */
uint64_t sfb_walker_name(struct sfb_walk *walker);

/* @return whether all registers of the walker's frame are known */
static inline bool sfb_walker_is_at_anchor(const struct sfb_walk *walker)
{
    struct sfb_regs full;

    sfb_arch_regs(&full, walker->anchor);
    return walker->regs.sp == full.sp && walker->regs.pc == full.pc;
}

/* @return the walk that reads code and tables through this memory: for struct sfb_modules' read() */
static inline const struct sfb_walk *sfb_walk_of_tables(const struct sfb_memory *memory)
{
    return (const void *)((const uint8_t *)memory - offsetof(struct sfb_walk, table_memory));
}

/* The address to look up in tables: for a return address, a byte of the call itself. */
static inline uint64_t sfb_walker_lookup_pc(const struct sfb_walk *w)
{
    return w->regs.pc - (w->current.kind == SFB_FRAME_RA);
}

/* Takes from the budget. @return false: the budget is used up */
static inline bool sfb_walker_spend(struct sfb_walk *w, uint64_t work)
{
    if (work >= w->work) {
        w->work = 0;
        return false;
    }
    w->work -= (uint32_t)work;
    return true;
}

/* The id under which the rule cache keeps rules of w->module; 0: it does not cache them. */
static inline uint32_t sfb_walker_cache_id(const struct sfb_walk *w)
{
    return w->flags & SFB_WALKER_NO_CACHE || !w->module || !w->modules->cache ? 0 : w->module->id;
}

/* Sets w->module to the module that contains pc. */
static inline bool sfb_walker_find_module(struct sfb_walk *w, uint64_t pc)
{
    if (!w->module || pc - w->module->start >= w->module->end - w->module->start)
        w->module = w->modules->find(w->modules, pc, w->scratch);
    return w->module != NULL;
}

#endif
