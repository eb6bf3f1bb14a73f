/*
 * The first sources of a frame: the rule cache; else a row of the module's .sframe; else the code at
 * the pc, if it matches a pattern that tables get wrong; else a row of .eh_frame, or the row of the
 * function that padding leads to.
 */
#include "unwind/walk/source_tables.h"

#include "eh_frame/rule.h"
#include "sframe/find.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/walk/late_fp.h"
#include "unwind/walk/module_rule.h"
#include "unwind/walk/position.h"
#include "unwind/walk/rule_cache.h"
#include "unwind/walk/source_frame_pointer.h"
#include "unwind/walk/source_signal.h"
#include "unwind/walk/stack_root.h"
#include "unwind/walk/step.h"
#include "unwind/walk/walk_rules.h"

static const struct sfb_context *context_here(const struct sfb_walk *w)
{
    return sfb_walker_is_at_anchor(w) ? w->anchor : NULL;
}

/*
 * Tries a rule that names any register. Nearly all frames know three registers. If the rule needs
 * another, it must be found first: see sfb_walker_step().
 */
__attribute__((noinline)) static enum sfb_status try_any_register(struct sfb_walk *w,
                                                                  const struct sfb_rule *rule)
{
    const struct sfb_context *context = context_here(w);
    struct sfb_rule mended;
    enum sfb_status status;

    if (sfb_late_fp_mend(w, rule, w->regs.pc, w->current.kind, &mended))
        rule = &mended;
    status = sfb_step(&w->regs, rule, w->memory, context);
    w->wants_registers |= status == SFB_NO_REGISTER && !context;
    return status;
}

static inline enum sfb_status follow_rule(struct sfb_walk *w, const struct sfb_rule *rule)
{
    if (__builtin_expect(rule->flags & SFB_RULE_ANY_REGISTER, 0))
        return try_any_register(w, rule);
    return sfb_step(&w->regs, rule, w->memory, NULL);
}

/*
 * Tries a rule of .sframe that states more than fixed offsets. In a signal frame the kernel's saved
 * registers are used instead: they are all registers, a row states at most three. If a register is
 * unknown here, the row counts as a miss.
 */
__attribute__((noinline)) static enum sfb_status try_uncommon_row(struct sfb_walk *w,
                                                                  const struct sfb_rule *rule,
                                                                  enum sfb_source *source)
{
    enum sfb_status status = SFB_NO_CODE_PATTERN;

    if (rule->flags & SFB_RULE_SIGNAL)
        status = sfb_signal_step(w);
    if (status != SFB_NO_CODE_PATTERN) {
        *source = SFB_SOURCE_SIGNAL;
        return status;
    }
    status = follow_rule(w, rule);
    w->interrupted = status == SFB_OK && rule->flags & SFB_RULE_SIGNAL;
    return status;
}

/* Finds the rule by the code pattern at the pc: for code with a missing or wrong table. */
static enum sfb_status find_code_pattern(struct sfb_walk *w, struct sfb_rule *out)
{
    enum sfb_status status =
        sfb_arch_known_rule(&w->table_memory, w->regs.pc, w->current.kind, out);

    /* A stub calls nothing. */
    if (status == SFB_NO_CODE_PATTERN && w->current.kind == SFB_FRAME_PC &&
        sfb_arch_stub_rule(&w->table_memory, w->regs.pc, out))
        return SFB_OK;
    return status;
}

static bool is_gap(enum sfb_status status)
{
    return status == SFB_NO_CFI || status == SFB_NO_EH_FRAME;
}

/*
 * Padding between functions may be executed: glibc's `__memcpy_chk` runs through it into `memcpy`. If
 * only no-ops lead to a function's first instruction, the registers there are unchanged. So that
 * instruction's rule also holds at the pc. (Not for a return address: it belongs to the call before
 * the padding.)
 */
static bool find_behind_padding(struct sfb_walk *w, uint64_t pc, struct sfb_rule *out)
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

/*
 * Where glibc restores a context on AArch64, as in setcontext(), its tables use that context, the first
 * argument, as the CFA, and its lr as the pc. No other rules are based on an argument.
 */
static bool is_context_for_cfa(const struct sfb_rule *rule)
{
    return SFB_ARCH_SETCONTEXT_CFI_IS_WRONG && rule->cfa_base == SFB_BASE_REG && rule->cfa_reg == 0;
}

/* Refuses rows of .eh_frame that another source handles, or that are wrong. */
static enum sfb_status judge_cfi(const struct sfb_rule *rule)
{
    if (rule->flags & SFB_RULE_SIGNAL)
        return SFB_NO_CFI; /* a signal frame: its caller was interrupted */
    return is_context_for_cfa(rule) ? SFB_BAD_CFI : SFB_OK;
}

/* Tells whether a module's rules may be kept for this walk only. */
static bool is_unnamed(const struct sfb_walk *w)
{
    return w->module->id == 0 && !(w->flags & SFB_WALKER_NO_CACHE);
}

static void remember_rule(struct sfb_walk *w, uint64_t key, const struct sfb_rule *rule)
{
    if (is_unnamed(w))
        sfb_walk_rules_put(sfb_walker_name(w), key, rule);
    else
        sfb_rule_cache_put(w->modules->cache, key, sfb_walker_cache_id(w), rule);
}

static bool recall_rule(struct sfb_walk *w, uint64_t key, struct sfb_rule *out)
{
    if (is_unnamed(w))
        return sfb_walk_rules_get(sfb_walker_name(w), key, out);
    return sfb_rule_cache_get(w->modules->cache, key, sfb_walker_cache_id(w), out);
}

/*
 * Tells whether a function of the unwinder is about to return to another frame. It overwrites its saved
 * registers and return address with that frame's, and its row does not state when. So frames may be
 * skipped.
 */
static bool is_leaving(struct sfb_walk *w, const struct sfb_rule *rule)
{
    return rule->flags & SFB_RULE_EH_RETURN && (!sfb_walker_spend(w, SFB_ARCH_LEAVING_WORK) ||
                                                sfb_arch_is_leaving(&w->table_memory, w->regs.pc));
}

/*
 * Tells whether the instruction at an interrupted pc overrides the row if the word at sp lies behind a call.
 * Here the word did not (a fiber's first function returns to a place without a call). With a cached row the
 * next walk would not check.
 */
static bool is_told_by_code(struct sfb_walk *w)
{
    return w->current.kind == SFB_FRAME_PC && sfb_arch_runs_at_return(&w->table_memory, w->regs.pc);
}

static inline enum sfb_status use_row(struct sfb_walk *w, uint64_t pc, const struct sfb_rule *rule,
                                      bool remember)
{
    if (rule->flags & SFB_RULE_OUTERMOST)
        return sfb_stack_root_end(w, remember);
    if (is_leaving(w, rule))
        w->unproven = true; /* not cached: a cached rule cannot state that it is unproven */
    else if (remember && !is_told_by_code(w))
        remember_rule(w, pc + 1, rule);
    return follow_rule(w, rule);
}

/*
 * Uses the rule of .sframe, or tries the other tables. If a module has both tables, rules of .eh_frame
 * are not cached. So a cached rule's table follows from its module.
 *
 * @param status  of .sframe; SFB_OK: rule is its rule
 */
__attribute__((noinline)) static enum sfb_status use_tables(struct sfb_walk *w, uint64_t pc,
                                                            enum sfb_status status,
                                                            struct sfb_rule *rule,
                                                            enum sfb_source *source)
{
    const struct sfb_module *m = w->module;

    *source = SFB_SOURCE_SFRAME;
    if (status == SFB_OK && rule->flags & (SFB_RULE_ANY_REGISTER | SFB_RULE_SIGNAL)) {
        status = try_uncommon_row(w, rule, source);
        if (status != SFB_NO_REGISTER || *source != SFB_SOURCE_SFRAME ||
            (w->wants_registers && !w->registers_lost))
            return status;
    }
    if (status != SFB_OK) {
        w->current.missed[SFB_SOURCE_SFRAME] = (uint8_t)status;
        *source = SFB_SOURCE_CODE_PATTERN;
        status = find_code_pattern(w, rule);
        if (status != SFB_NO_CODE_PATTERN)
            return status == SFB_OK ? follow_rule(w, rule) : status;
        w->current.missed[SFB_SOURCE_CODE_PATTERN] = (uint8_t)status;
        *source = SFB_SOURCE_EH_FRAME;
        status = m->eh_frame_status;
        if (status == SFB_OK)
            status = sfb_eh_frame_find_within(&m->eh_frame, pc, &w->work, rule, NULL);
        if (is_gap(status) && w->current.missed[SFB_SOURCE_SFRAME] != SFB_NO_FRE &&
            find_behind_padding(w, pc, rule)) {
            w->current.missed[SFB_SOURCE_EH_FRAME] = (uint8_t)status;
            w->current.missed[SFB_SOURCE_CODE_PATTERN] = SFB_OK;
            *source = SFB_SOURCE_CODE_PATTERN;
            return follow_rule(w, rule); /* not cached: not a return address */
        }
        if (status == SFB_OK)
            status = judge_cfi(rule);
        if (status != SFB_OK)
            return status;
    }
    return use_row(w, pc, rule, *source == SFB_SOURCE_SFRAME || m->section_status != SFB_OK);
}

/* Steps by the word at sp. (Not cached: cached rules are a table's.) */
static __attribute__((noinline)) enum sfb_status step_at_sp(struct sfb_walk *w)
{
    const struct sfb_rule rule = sfb_arch_rule_at_sp();

    return follow_rule(w, &rule);
}

/*
 * Tells whether the row of an interrupted `ret` gives a return address behind a call that is not the word at sp. Then `ret`
 * is a jump to the word at sp, which may lie behind a call that does not return.
 */
static __attribute__((noinline)) bool returns_by_row(struct sfb_walk *w)
{
    enum { SEARCH_WORK = 64 };
    struct sfb_regs caller = w->regs;
    struct sfb_rule rule;
    uint64_t start;

    return sfb_walker_spend(w, SEARCH_WORK) &&
           sfb_module_rule(w->module, w->regs.pc, &rule, &start) == SFB_OK &&
           !(rule.flags & (SFB_RULE_OUTERMOST | SFB_RULE_SIGNAL)) &&
           sfb_step(&caller, &rule, w->memory, context_here(w)) == SFB_OK &&
           caller.sp != w->regs.sp + sizeof(uint64_t) &&
           sfb_arch_is_call(&w->table_memory, caller.pc);
}

enum sfb_status sfb_instruction_step(struct sfb_walk *w)
{
    if (!sfb_arch_returns_at_sp(&w->table_memory, w->memory, &w->regs) ||
        (sfb_arch_may_jump_by_return(&w->table_memory, w->regs.pc) && returns_by_row(w)))
        return SFB_NO_CODE_PATTERN;
    return step_at_sp(w);
}

enum sfb_status sfb_tables_step(struct sfb_walk *w, enum sfb_source *source)
{
    uint64_t pc = sfb_walker_lookup_pc(w);
    enum sfb_status status;
    struct sfb_rule rule;

    *source = SFB_SOURCE_EH_FRAME;
    if (!sfb_walker_find_module(w, pc)) {
        w->current.missed[SFB_SOURCE_SFRAME] = SFB_NO_MODULE;
        return SFB_NO_MODULE;
    }
    if (__builtin_expect(w->sp_lost, false)) {
        status = find_code_pattern(w, &rule);
        /* Code of a known pattern stores no frame record: fp is its caller's. */
        status = status == SFB_NO_CODE_PATTERN ? sfb_frame_pointer_find_sp(w, pc) : SFB_NO_REGISTER;
        if (status != SFB_OK)
            return status;
    }
    if (recall_rule(w, pc + 1, &rule)) {
        *source = SFB_SOURCE_SFRAME;
        if (w->module->section_status != SFB_OK) {
            *source = SFB_SOURCE_EH_FRAME;
            w->current.missed[SFB_SOURCE_SFRAME] = (uint8_t)w->module->section_status;
        }
        return follow_rule(w, &rule);
    }
    status = w->module->section_status;
    if (status == SFB_OK)
        status = sfb_section_find_within(&w->module->section, pc, &w->work, &rule, NULL);
    return use_tables(w, pc, status, &rule, source);
}
