/*
 * The walk: for each frame these sources are tried, in this order,
 *
 *     1. the entry points of the process             -> the end
 *     2. the rule cache; else a row of the module's
 *        .sframe; else the code at the pc, if it
 *        matches a pattern that tables get wrong;
 *        else a row of .eh_frame, or the row of the
 *        function that padding leads to              -> sfb_step()
 *     3. a signal trampoline                         -> the registers that the kernel saved
 *     4. libunwind                                   -> one step of it
 *     5. the frame record that fp leads to           -> a guess
 *
 * and the next frame starts at 1 again. After a miss or a corrupt table the next source is tried. A
 * rule that contradicts the stack ends the walk. The walk terminates: every step moves sp outwards,
 * except for steps through a trampoline, which are counted.
 */
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/walk/position.h"
#include "unwind/walk/replay.h"
#include "unwind/walk/source_frame_pointer.h"
#include "unwind/walk/source_libunwind.h"
#include "unwind/walk/source_signal.h"
#include "unwind/walk/source_tables.h"
#include "unwind/walk/stack_root.h"
#include "unwind/walk/walker.h"

void sfb_walker_start(struct sfb_walk *out, struct sfb_context *start, enum sfb_frame_kind kind,
                      uint32_t flags, const struct sfb_modules *modules, struct sfb_memory *memory)
{
    /* Not memset: few walks need the whole struct. */
    sfb_arch_regs(&out->regs, start);
    out->regs.lr_known &= kind == SFB_FRAME_PC; /* a frame that has called has overwritten it */
    out->current = (struct sfb_frame){
        .kind = kind, .source = SFB_SOURCE_START, .address = out->regs.pc, .sp = out->regs.sp
    };
    out->module = NULL;
    out->scratch = NULL;
    out->flags = flags;
    out->signals = 0;
    out->sp_lost = false;
    out->followed = false;
    out->unproven = false;
    out->spurious = false;
    out->status = SFB_OK;
    out->begun = false;
    out->registers_lost = false;
    out->anchor = start;
    out->anchor_kind = (uint8_t)kind;
    out->libunwind_reads = SFB_LIBUNWIND_READS_MAX;
    out->modules = modules;
    out->memory = memory ? memory : &out->own_memory;
    if (memory)
        out->table_memory = *memory; /* tables are in the stack's address space */
    else
        out->table_memory = (struct sfb_memory){ .read = modules->read };
}

void sfb_walker_resume(struct sfb_walk *walker, uint64_t pc, uint64_t sp, uint64_t fp)
{
    walker->regs = (struct sfb_regs){ .pc = pc, .sp = sp, .fp = fp };
    walker->current = (struct sfb_frame){
        .kind = SFB_FRAME_RA, .source = SFB_SOURCE_SFRAME, .address = pc, .sp = sp
    };
    walker->begun = true;
}

static inline enum sfb_status accept_frame(struct sfb_walk *w, enum sfb_source source)
{
    w->current.kind = source == SFB_SOURCE_SIGNAL || w->interrupted ? SFB_FRAME_PC : SFB_FRAME_RA;
    w->current.source = source;
    w->current.address = w->regs.pc;
    w->current.sp = w->regs.sp;
    return SFB_OK;
}

/*
 * Tells whether the frame given last, for which no source found a caller, is not real. A wrong row or a
 * half-built stack leads to a word that lies in no module and behind no call. Nothing else shows that a
 * row was wrong.
 */
static bool is_spurious(struct sfb_walk *w)
{
    return w->current.kind == SFB_FRAME_RA && w->current.source != SFB_SOURCE_START &&
           w->current.missed[SFB_SOURCE_SFRAME] == SFB_NO_MODULE &&
           !sfb_arch_is_call(&w->table_memory, w->regs.pc);
}

/* Tells whether a status lets the next source be tried: a miss or a corrupt table. */
static bool try_next(enum sfb_status status)
{
    return status >= SFB_NO_MODULE && status < SFB_FRAME_LIMIT;
}

/* @return the most useful of all sources' statuses: a table's fault before a miss */
static enum sfb_status reason(const struct sfb_walk *w)
{
    for (unsigned s = SFB_SOURCE_SFRAME; s < SFB_SOURCE_COUNT; s++)
        if (w->current.missed[s] >= SFB_BAD_MAGIC)
            return (enum sfb_status)w->current.missed[s];
    if (w->current.missed[SFB_SOURCE_EH_FRAME] == SFB_NO_EH_FRAME)
        return (enum sfb_status)w->current.missed[SFB_SOURCE_SFRAME];
    return (enum sfb_status)w->current.missed[SFB_SOURCE_EH_FRAME];
}

/*
 * A source takes the walker's registers to the caller's frame. On all but SFB_OK they are unchanged.
 * (In place: a copy stalls, because it loads as a pair what was just stored as words.)
 */

/* The sources behind the tables: rarely tried, for tables almost always answer. */
static __attribute__((noinline)) enum sfb_status try_others(struct sfb_walk *w,
                                                            enum sfb_status status)
{
    typedef enum sfb_status source_fn(struct sfb_walk *);
    static source_fn *const sources[SFB_SOURCE_FRAME_POINTER + 1] = {
        [SFB_SOURCE_SIGNAL] = sfb_signal_step,
        [SFB_SOURCE_LIBUNWIND] = sfb_libunwind_step,
        [SFB_SOURCE_FRAME_POINTER] = sfb_frame_pointer_step,
    };

    for (unsigned s = SFB_SOURCE_SIGNAL; try_next(status) && s <= SFB_SOURCE_FRAME_POINTER; s++) {
        status = sources[s](w);
        if (status == SFB_OK)
            return accept_frame(w, w->guess_unproven ? SFB_SOURCE_UNPROVEN : (enum sfb_source)s);
        w->current.missed[s] = (uint8_t)status;
    }
    if (!try_next(status))
        return status;
    w->spurious = is_spurious(w);
    return reason(w);
}

/* After an unproven guess, an end is unproven too. */
static inline enum sfb_status judge_end(const struct sfb_walk *w, enum sfb_status status)
{
    return status == SFB_END && w->unproven ? SFB_UNPROVEN_END : status;
}

static inline void begin_step(struct sfb_walk *w)
{
    memset(w->current.missed, 0, sizeof w->current.missed);
    w->interrupted = false;
    w->wants_registers = false;
    w->guess_unproven = false;
}

static __attribute__((noinline)) enum sfb_status advance_here(struct sfb_walk *w)
{
    uint64_t pc = sfb_walker_lookup_pc(w);
    enum sfb_source source;
    enum sfb_status status;

    if (sfb_stack_root_is_near(w, pc) && sfb_stack_root_is_here(w, pc))
        return judge_end(w, sfb_stack_root_end(w, true));

    begin_step(w);
    status = sfb_tables_step(w, &source);
    if (status != SFB_OK) {
        w->current.missed[source] = (uint8_t)status;
        return judge_end(w, try_others(w, status));
    }
    return accept_frame(w, source);
}

/* Not inlined: only this walk pays stack for the scratch module. Few processes have so many modules. */
static __attribute__((noinline)) enum sfb_status advance_with_scratch(struct sfb_walk *w)
{
    struct sfb_module scratch;
    enum sfb_status status;

    w->scratch = &scratch;
    w->module = NULL;
    status = advance_here(w);
    w->scratch = NULL;
    w->module = NULL;
    return status;
}

/*
 * Finds what the sources need first: a new module, more registers, and the rule by the instruction at an
 * interrupted pc. Here, not where it is first missed, because less stack is in use.
 */
enum sfb_status sfb_walker_advance(struct sfb_walk *w)
{
    if (sfb_walker_find_module(w, sfb_walker_lookup_pc(w)) && w->module == &sfb_module_not_cached) {
        w->module =
            w->modules->learn ? w->modules->learn(w->modules, sfb_walker_lookup_pc(w)) : NULL;
        if (!w->module)
            return advance_with_scratch(w);
    }
    if (w->current.kind == SFB_FRAME_PC && w->module) {
        begin_step(w);
        if (sfb_instruction_step(w) == SFB_OK)
            return accept_frame(w, SFB_SOURCE_CODE_PATTERN);
    }
    return advance_here(w);
}

enum sfb_status sfb_walker_find_registers(struct sfb_walk *w)
{
    enum sfb_status status;

    w->registers_lost = !sfb_replay(w);
    status = sfb_walker_advance(w);
    w->registers_lost = false;
    return status;
}

static struct sfb_walk *walk_in(struct sfb_walker *walker)
{
    return (struct sfb_walk *)walker;
}

static const struct sfb_walk *walk_of(const struct sfb_walker *walker)
{
    return (const struct sfb_walk *)walker;
}

enum sfb_status sfb_walker_next(struct sfb_walker *walker, struct sfb_frame *out)
{
    struct sfb_walk *w = walk_in(walker);

    if (w->begun && w->status == SFB_OK)
        w->status = sfb_walker_spend(w, 1) ? sfb_walker_step(w) : SFB_WORK_LIMIT;
    w->begun = true;
    if (w->status == SFB_OK && out)
        *out = w->current;
    return w->status;
}

const struct sfb_frame *sfb_walker_frame(const struct sfb_walker *walker)
{
    return &walk_of(walker)->current;
}

bool sfb_walker_is_spurious(const struct sfb_walker *walker)
{
    return walk_of(walker)->spurious;
}

const struct sfb_regs *sfb_walker_regs(const struct sfb_walker *walker)
{
    return &walk_of(walker)->regs;
}
