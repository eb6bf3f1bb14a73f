#include "unwind/walk/stack_root.h"

#include "base/memory.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/walk/position.h"
#include "unwind/walk/rule_cache.h"

/*
 * Tells whether a table puts the pc in a function that begins elsewhere. The size of the loader's entry code
 * is known only for some releases of glibc; the code behind it is a function with a table.
 */
static __attribute__((noinline)) bool is_behind_the_loaders(struct sfb_walk *w, uint64_t pc)
{
    const uint64_t entry = w->modules->entries.loader;
    struct sfb_cfi_fde fde;
    uint64_t start;

    if (pc - entry >= SFB_ARCH_ENTRY_SIZE || !sfb_walker_find_module(w, pc))
        return false;
    if (w->module->section_status == SFB_OK &&
        sfb_section_function(&w->module->section, pc, &start) == SFB_OK)
        return start != entry;
    return w->module->eh_frame_status == SFB_OK &&
           sfb_eh_frame_fde_find(&w->module->eh_frame, pc, &fde, NULL) == SFB_OK &&
           fde.start != entry;
}

/*
 * Tells whether the process began here. binutils 2.40 drops `.cfi_undefined rip`, so a `_start` with rows
 * looks like any other function: its address decides, not its rows.
 */
bool sfb_stack_root_is_here(struct sfb_walk *w, uint64_t pc)
{
    const struct sfb_entries *entries = &w->modules->entries;
    uint64_t start;

    if (entries->program && sfb_walker_find_module(w, pc) && w->module->section_status == SFB_OK &&
        sfb_section_function(&w->module->section, pc, &start) == SFB_OK &&
        start == entries->program)
        return true;
    return sfb_arch_is_outermost(entries, &w->table_memory, w->regs.pc, w->current.kind) &&
           !is_behind_the_loaders(w, pc);
}

/*
 * Ends the walk at an outermost frame. A walk that has gone wrong may get there too, by a word that only
 * looks like a return address. So the word must lie behind a call. If the code is unreadable (a filter
 * refuses the probe, or it is execute-only), the word is accepted. The cache keeps only checked ends.
 */
enum sfb_status sfb_stack_root_end(struct sfb_walk *w, bool remember)
{
    static const struct sfb_rule outermost = { .flags = SFB_RULE_OUTERMOST };
    uint8_t code;

    if (w->current.kind != SFB_FRAME_RA ||
        !sfb_memory_copy(&w->table_memory, w->regs.pc - 1, &code, sizeof code))
        return SFB_END;
    if (!sfb_arch_is_call(&w->table_memory, w->regs.pc))
        return SFB_NOT_A_CALL;
    if (remember && sfb_walker_find_module(w, sfb_walker_lookup_pc(w)))
        sfb_rule_cache_put(w->modules->cache, w->regs.pc, sfb_walker_cache_id(w), &outermost);
    return SFB_END;
}
