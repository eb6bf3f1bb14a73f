/*
 * The walk: for each frame these are asked, in this order,
 *
 *     1. is this where the process began?            -> the end
 *     2. a row of the module's .sframe, else the code
 *        at the pc, where its shape says more than a
 *        table, else a row of .eh_frame, or that of
 *        the function that padding leads to; or the
 *        cache of what tables said before            -> sfb_step()
 *     3. a signal trampoline                         -> the registers that the kernel saved
 *     4. libunwind                                   -> one step of it
 *     5. the frame record that fp leads to           -> a guess
 *
 * and the next frame starts at 1 again. A source that misses, or whose table is corrupt, hands on
 * to the next; a source that has a rule which the stack does not bear out ends the walk. It
 * terminates: every step moves sp outwards, but for those through a trampoline, which are counted.
 */
#include <stddef.h>
#include <string.h>

#include "unwind/arch.h"
#include "unwind/fallback_frame_pointer.h"
#include "unwind/fallback_libunwind.h"
#include "unwind/memory.h"
#include "unwind/modules.h"
#include "unwind/replay.h"
#include "unwind/rule_cache.h"
#include "unwind/step.h"
#include "unwind/walker.h"

/* Signals nest as deep as there are different ones at the most, if each is handled once. */
#define SIGNALS_MAX 64

/*
 * So little above this code's own frame the sp of a caller is on the same stack, and its page needs
 * no probe. (Not that of an interrupted frame: its stack may have overflowed into the page above
 * this one.)
 */
#define NEAR 8192u

/* Of this process, with nothing known of its stack. */
static void begin(struct sfb_walker *out, struct sfb_context *start, enum sfb_frame_kind kind,
                  uint32_t flags)
{
    /* Not memset: few walks need all of it. */
    sfb_arch_regs(&out->regs, start);
    out->regs.lr_known &= kind == SFB_FRAME_PC; /* a frame that has called has overwritten it */
    out->current = (struct sfb_frame){
        .kind = kind, .source = SFB_SOURCE_START, .address = out->regs.pc, .sp = out->regs.sp
    };
    out->module = NULL;
    out->room = NULL;
    out->flags = flags;
    out->signals = 0;
    out->sp_stayed = false;
    out->sp_lost = false;
    out->status = SFB_OK;
    out->begun = false;
    out->registers_lost = false;
    out->full = start;
    out->full_kind = (uint8_t)kind;
    out->libunwind_reads = SFB_LIBUNWIND_READS_MAX;
    out->memory = &out->own_memory;
    out->modules = sfb_modules_live();
    sfb_memory_probed(&out->table_memory);
}

enum sfb_status sfb_walker_init(struct sfb_walker *out, struct sfb_context *start,
                                enum sfb_frame_kind kind, const struct sfb_walker_options *options)
{
    if (!out || !start || (kind != SFB_FRAME_PC && kind != SFB_FRAME_RA))
        return SFB_BAD_ARGUMENT;
    if (options && (options->size < sizeof *options ||
                    (options->flags & ~(uint32_t)(SFB_WALKER_NO_LIBUNWIND | SFB_WALKER_NO_CACHE))))
        return SFB_BAD_ARGUMENT;

    begin(out, start, kind, options ? options->flags : 0);
    if (options && options->modules) {
        out->flags |= SFB_WALKER_NO_CACHE; /* ids of other address spaces say nothing here */
        out->modules = options->modules;
    }
    if (options && options->memory) {
        out->memory = options->memory;
        out->table_memory = *options->memory; /* tables are where the stack is */
    } else {
        sfb_memory_live(&out->own_memory, out->regs.sp,
                        kind == SFB_FRAME_RA &&
                            out->regs.sp - (uintptr_t)__builtin_frame_address(0) < NEAR);
    }
    return SFB_OK;
}

void sfb_walker_begin(struct sfb_walker *walker)
{
    begin(walker, walker->full, (enum sfb_frame_kind)walker->full_kind, walker->flags);
    walker->begun = true;
}

void sfb_walker_resume(struct sfb_walker *walker, uint64_t pc, uint64_t sp, uint64_t fp)
{
    walker->regs = (struct sfb_regs){ .pc = pc, .sp = sp, .fp = fp };
    walker->current = (struct sfb_frame){
        .kind = SFB_FRAME_RA, .source = SFB_SOURCE_SFRAME, .address = pc, .sp = sp
    };
    walker->begun = true;
}

/* The address that tables are asked for: a call's own, not that of what follows it. */
static uint64_t lookup_pc(const struct sfb_walker *w)
{
    return w->regs.pc - (w->current.kind == SFB_FRAME_RA);
}

/* The id under which what is learnt of a pc in w->module may be remembered; 0: it may not. */
static uint32_t cache_id(const struct sfb_walker *w)
{
    return w->flags & SFB_WALKER_NO_CACHE || !w->module ? 0 : w->module->id;
}

/* Leaves the module that holds pc in w->module. */
static inline bool find_module(struct sfb_walker *w, uint64_t pc)
{
    if (!w->module || pc - w->module->start >= w->module->end - w->module->start)
        w->module = w->modules->find(w->modules, pc, w->room);
    return w->module != NULL;
}

/*
 * Whether this is where the process began. binutils 2.40 drops `.cfi_undefined rip`, so a `_start`
 * that has rows looks like any other function: its address decides, not its rows.
 */
__attribute__((noinline)) static bool is_outermost(struct sfb_walker *w, uint64_t pc)
{
    const struct sfb_entries *entries = &w->modules->entries;
    uint64_t start;

    if (entries->program && find_module(w, pc) && w->module->section_status == SFB_OK &&
        sfb_section_function(&w->module->section, pc, &start) == SFB_OK &&
        start == entries->program)
        return true;
    return sfb_arch_is_outermost(entries, &w->table_memory, w->regs.pc, w->current.kind);
}

/* Nearly every frame is far from both entry points, and this is all that it pays for them. */
static inline bool near_entry(const struct sfb_walker *w, uint64_t pc)
{
    return pc - w->modules->entries.program < SFB_ARCH_ENTRY_SIZE ||
           pc - w->modules->entries.loader < SFB_ARCH_ENTRY_SIZE;
}

/*
 * A source takes the walker's registers to the caller's frame. On anything but SFB_OK they are as
 * they were. (In place: copies in and out stall, because what was just stored as words is loaded as
 * a pair.)
 */

static const struct sfb_context *context_here(const struct sfb_walker *w)
{
    return sfb_walker_is_full(w) ? w->full : NULL;
}

/*
 * A rule that names any register. Nearly all frames know three; where that does not do, the others
 * have to be found first: see sfb_walker_step().
 */
__attribute__((noinline)) static enum sfb_status step_general(struct sfb_walker *w,
                                                              const struct sfb_rule *rule)
{
    struct sfb_regs regs = w->regs;
    const struct sfb_context *context = context_here(w);
    enum sfb_status status = sfb_step(&regs, rule, w->memory, context);

    if (status == SFB_NO_REGISTER && !context)
        w->wants_registers = true;
    if (status != SFB_OK)
        return status;
    if (regs.sp == w->regs.sp) {
        if (w->sp_stayed)
            return SFB_NO_PROGRESS;
        w->sp_stayed = true;
    }
    w->regs = regs;
    return SFB_OK;
}

static inline enum sfb_status follow(struct sfb_walker *w, const struct sfb_rule *rule)
{
    if (__builtin_expect(rule->flags & SFB_RULE_GENERAL, 0))
        return step_general(w, rule);
    return sfb_step(&w->regs, rule, w->memory, NULL);
}

static enum sfb_status try_signal(struct sfb_walker *w)
{
    enum sfb_status status;

    if (!sfb_arch_is_trampoline(&w->table_memory, w->regs.pc))
        return SFB_NO_SHAPE;
    if (w->sp_lost)
        return SFB_NO_REGISTER;
    if (w->signals++ == SIGNALS_MAX)
        return SFB_SIGNAL_LIMIT;
    status = sfb_arch_signal_context(w->full, w->memory, w->regs.sp);
    if (status != SFB_OK)
        return status;
    sfb_arch_regs(&w->regs, w->full);
    /* All registers are known again, and the stack may be another one. */
    w->full_kind = SFB_FRAME_PC;
    w->sp_stayed = false;
    return SFB_OK;
}

/*
 * A rule of .sframe that says more than fixed offsets. What the kernel saved for a signal handler
 * is all registers, and a row three at most. A register that is not known here leaves the row
 * unsaid.
 */
__attribute__((noinline)) static enum sfb_status try_uncommon_row(struct sfb_walker *w,
                                                                  const struct sfb_rule *rule,
                                                                  enum sfb_source *source)
{
    enum sfb_status status = SFB_NO_SHAPE;

    if (rule->flags & SFB_RULE_SIGNAL)
        status = try_signal(w);
    if (status != SFB_NO_SHAPE) {
        *source = SFB_SOURCE_SIGNAL;
        return status;
    }
    status = follow(w, rule);
    w->interrupted = status == SFB_OK && rule->flags & SFB_RULE_SIGNAL;
    return status;
}

/* What the code at the pc says by its shape: there is no table for it, or a wrong one. */
static enum sfb_status find_shape(struct sfb_walker *w, struct sfb_rule *out)
{
    enum sfb_status status =
        sfb_arch_known_rule(&w->table_memory, w->regs.pc, w->current.kind, out);

    /* A stub calls nothing. */
    if (status == SFB_NO_SHAPE && w->current.kind == SFB_FRAME_PC &&
        sfb_arch_stub_rule(&w->table_memory, w->regs.pc, out))
        return SFB_OK;
    return status;
}

static bool is_gap(enum sfb_status status)
{
    return status == SFB_NO_CFI || status == SFB_NO_EH_FRAME;
}

/*
 * Padding between functions that is run: glibc's `__memcpy_chk` goes on through it into `memcpy`.
 * Where nothing but no-ops leads up to a function's first instruction, control gets there with the
 * registers of here, so that instruction's rule is the rule of here, too. (A return address in such
 * a place belongs to the call before it, of which this says nothing.)
 */
static bool find_behind_padding(struct sfb_walker *w, uint64_t pc, struct sfb_rule *out)
{
    enum { PADDING_MAX = 63 };
    enum sfb_status status = SFB_NO_CFI;
    uint64_t at = pc, start = 0, size;

    if (w->current.kind != SFB_FRAME_PC)
        return false;
    while (is_gap(status)) {
        size = sfb_arch_nop_size(&w->table_memory, at);
        at += size;
        if (size == 0 || at - pc > PADDING_MAX)
            return false;
        status = sfb_module_rule(w->module, at, out, &start);
    }
    return status == SFB_OK && start == at && !(out->flags & SFB_RULE_SIGNAL);
}

/* Rows of .eh_frame that are another source's business, or wrong. */
static enum sfb_status judge_cfi(const struct sfb_rule *rule)
{
    if (rule->flags & SFB_RULE_SIGNAL)
        return SFB_NO_CFI; /* its caller is no return address */
    /*
     * Where glibc restores a context on AArch64, setcontext() for one, its tables take that
     * context, x0, for the CFA, and lr in it for the pc. Nothing else counts from an argument.
     */
    if (SFB_ARCH_LR && rule->cfa_base == SFB_BASE_REG && rule->cfa_reg == 0)
        return SFB_BAD_CFI;
    return SFB_OK;
}

/*
 * Where nothing comes behind a frame, as its tables or its place say. A walk that has lost its way
 * may come there, too, by a word that only looks like a return address: behind a call is where a
 * true one leads. Code that cannot be read (a filter refuses the probe, or it may only be executed)
 * is believed. What is remembered of a place is that it was found to be one.
 */
__attribute__((noinline)) static enum sfb_status end_here(struct sfb_walker *w, bool remember)
{
    static const struct sfb_rule outermost = { .flags = SFB_RULE_OUTERMOST };
    uint8_t code;

    if (w->current.kind != SFB_FRAME_RA ||
        !sfb_memory_copy(&w->table_memory, w->regs.pc - 1, &code, sizeof code))
        return SFB_END;
    if (!sfb_arch_is_call(&w->table_memory, w->regs.pc))
        return SFB_NOT_A_CALL;
    if (remember && find_module(w, lookup_pc(w)))
        sfb_rule_cache_put(w->regs.pc, cache_id(w), &outermost);
    return SFB_END;
}

/*
 * Asks the tables themselves. What .eh_frame says of a module that has an .sframe, too, is not
 * remembered, so that what is remembered says from which of the two it is.
 */
__attribute__((noinline)) static enum sfb_status try_tables(struct sfb_walker *w, uint64_t pc,
                                                            enum sfb_source *source,
                                                            struct sfb_rule *rule)
{
    const struct sfb_module *m = w->module;
    enum sfb_status status = m->section_status;

    if (status == SFB_OK)
        status = sfb_section_find(&m->section, pc, rule, NULL);
    *source = SFB_SOURCE_SFRAME;
    if (status == SFB_OK && rule->flags & (SFB_RULE_GENERAL | SFB_RULE_SIGNAL)) {
        status = try_uncommon_row(w, rule, source);
        if (status != SFB_NO_REGISTER || *source != SFB_SOURCE_SFRAME ||
            (w->wants_registers && !w->registers_lost))
            return status;
    }
    if (status != SFB_OK) {
        w->current.missed[SFB_SOURCE_SFRAME] = (uint8_t)status;
        *source = SFB_SOURCE_STUB;
        status = find_shape(w, rule);
        if (status != SFB_NO_SHAPE)
            return status == SFB_OK ? follow(w, rule) : status;
        w->current.missed[SFB_SOURCE_STUB] = (uint8_t)status;
        *source = SFB_SOURCE_EH_FRAME;
        status = m->eh_frame_status;
        if (status == SFB_OK)
            status = sfb_eh_frame_find(&m->eh_frame, pc, rule, NULL);
        if (is_gap(status) && w->current.missed[SFB_SOURCE_SFRAME] != SFB_NO_FRE &&
            find_behind_padding(w, pc, rule)) {
            w->current.missed[SFB_SOURCE_EH_FRAME] = (uint8_t)status;
            w->current.missed[SFB_SOURCE_STUB] = SFB_OK;
            *source = SFB_SOURCE_STUB;
            return follow(w, rule); /* not remembered: it is not a return address's */
        }
        if (status == SFB_OK)
            status = judge_cfi(rule);
        if (status != SFB_OK)
            return status;
    }
    if (rule->flags & SFB_RULE_OUTERMOST)
        return end_here(w, *source == SFB_SOURCE_SFRAME || m->section_status != SFB_OK);
    if (*source == SFB_SOURCE_SFRAME || m->section_status != SFB_OK)
        sfb_rule_cache_put(pc + 1, cache_id(w), rule);
    return follow(w, rule);
}

static inline enum sfb_status try_rules(struct sfb_walker *w, enum sfb_source *source)
{
    uint64_t pc = lookup_pc(w);
    struct sfb_rule rule;

    *source = SFB_SOURCE_EH_FRAME;
    if (!find_module(w, pc)) {
        w->current.missed[SFB_SOURCE_SFRAME] = SFB_NO_MODULE;
        return SFB_NO_MODULE;
    }
    if (__builtin_expect(w->sp_lost, false)) {
        enum sfb_status status = find_shape(w, &rule);

        /* What has a shape keeps no frame record: fp is not its own. */
        status = status == SFB_NO_SHAPE ? sfb_frame_pointer_find_sp(w, pc) : SFB_NO_REGISTER;
        if (status != SFB_OK)
            return status;
    }
    if (sfb_rule_cache_get(pc + 1, cache_id(w), &rule)) {
        *source = SFB_SOURCE_SFRAME;
        if (w->module->section_status != SFB_OK) {
            *source = SFB_SOURCE_EH_FRAME;
            w->current.missed[SFB_SOURCE_SFRAME] = (uint8_t)w->module->section_status;
        }
        return sfb_step(&w->regs, &rule, w->memory, NULL);
    }
    return try_tables(w, pc, source, &rule);
}

static inline void accept(struct sfb_walker *w, enum sfb_source source)
{
    w->current.kind = source == SFB_SOURCE_SIGNAL || w->interrupted ? SFB_FRAME_PC : SFB_FRAME_RA;
    w->current.source = source;
    w->current.address = w->regs.pc;
    w->current.sp = w->regs.sp;
}

/* Misses and corrupt tables: the statuses on which the next source is asked. */
static bool try_next(enum sfb_status status)
{
    return status >= SFB_NO_MODULE && status < SFB_FRAME_LIMIT;
}

/* Of all refusals, the one that tells a user most: what is wrong with a table, else what none has.
 */
static enum sfb_status reason(const struct sfb_walker *w)
{
    for (unsigned s = SFB_SOURCE_SFRAME; s < SFB_SOURCE_COUNT; s++)
        if (w->current.missed[s] >= SFB_BAD_MAGIC)
            return (enum sfb_status)w->current.missed[s];
    if (w->current.missed[SFB_SOURCE_EH_FRAME] == SFB_NO_EH_FRAME)
        return (enum sfb_status)w->current.missed[SFB_SOURCE_SFRAME];
    return (enum sfb_status)w->current.missed[SFB_SOURCE_EH_FRAME];
}

/* The sources behind the tables, which almost always answer. */
static enum sfb_status try_others(struct sfb_walker *w, enum sfb_status status)
{
    typedef enum sfb_status source_fn(struct sfb_walker *);
    static source_fn *const sources[SFB_SOURCE_COUNT] = {
        [SFB_SOURCE_SIGNAL] = try_signal,
        [SFB_SOURCE_LIBUNWIND] = sfb_libunwind_step,
        [SFB_SOURCE_FRAME_POINTER] = sfb_frame_pointer_step,
    };

    for (unsigned s = SFB_SOURCE_SIGNAL; try_next(status) && s < SFB_SOURCE_COUNT; s++) {
        status = sources[s](w);
        if (status == SFB_OK) {
            accept(w, (enum sfb_source)s);
            return SFB_OK;
        }
        w->current.missed[s] = (uint8_t)status;
    }
    return try_next(status) ? reason(w) : status;
}

static __attribute__((noinline)) enum sfb_status advance_here(struct sfb_walker *w)
{
    uint64_t pc = lookup_pc(w);
    enum sfb_source source;
    enum sfb_status status;

    if (near_entry(w, pc) && is_outermost(w, pc))
        return end_here(w, true);

    memset(w->current.missed, 0, sizeof w->current.missed);
    w->interrupted = false;
    w->wants_registers = false;
    status = try_rules(w, &source);
    if (status != SFB_OK) {
        w->current.missed[source] = (uint8_t)status;
        return try_others(w, status);
    }
    accept(w, source);
    return SFB_OK;
}

/* On the stack only of those who need it: few processes have so many modules. */
static __attribute__((noinline)) enum sfb_status advance_with_room(struct sfb_walker *w)
{
    struct sfb_module room;
    enum sfb_status status;

    w->room = &room;
    w->module = NULL;
    status = advance_here(w);
    w->room = NULL;
    w->module = NULL;
    return status;
}

/*
 * What has to be known beforehand, a new module or more registers, is found here, and not where it
 * is first missed: less of the stack is in use.
 */
enum sfb_status sfb_walker_advance(struct sfb_walker *w)
{
    uint64_t pc = lookup_pc(w);

    if (find_module(w, pc) && w->module == &sfb_module_needs_room) {
        w->module = sfb_modules_learn(pc);
        if (!w->module)
            return advance_with_room(w);
    }
    return advance_here(w);
}

enum sfb_status sfb_walker_find_registers(struct sfb_walker *w)
{
    enum sfb_status status;

    w->registers_lost = !sfb_replay(w);
    status = sfb_walker_advance(w);
    w->registers_lost = false;
    return status;
}

enum sfb_status sfb_walker_next(struct sfb_walker *walker, struct sfb_frame *out)
{
    if (walker->begun && walker->status == SFB_OK)
        walker->status = sfb_walker_step(walker);
    walker->begun = true;
    if (walker->status == SFB_OK && out)
        *out = walker->current;
    return walker->status;
}
