/*
 * The first sources of a frame: a row of the module's .sframe, else the code at the pc, where its
 * shape says more than a table, else a row of .eh_frame, or that of the function that padding leads
 * to; or the cache of what tables said before.
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
 * A rule that names any register. Nearly all frames know three; where that does not do, the others
 * have to be found first: see sfb_walker_step().
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
 * A rule of .sframe that says more than fixed offsets. What the kernel saved for a signal handler
 * is all registers, and a row three at most. A register that is not known here leaves the row
 * unsaid.
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

/* What the pattern of the code at the pc says: there is no table for it, or a wrong one. */
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
 * Padding between functions that is run: glibc's `__memcpy_chk` goes on through it into `memcpy`.
 * Where nothing but no-ops leads up to a function's first instruction, control gets there with the
 * registers of here, so that instruction's rule is the rule of here, too. (A return address in such
 * a place belongs to the call before it, of which this says nothing.)
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
 * Where glibc restores a context on AArch64, setcontext() for one, its tables take that context, the
 * first argument, for the CFA, and lr in it for the pc. Nothing else counts from an argument.
 */
static bool is_context_for_cfa(const struct sfb_rule *rule)
{
    return SFB_ARCH_SETCONTEXT_CFI_IS_WRONG && rule->cfa_base == SFB_BASE_REG && rule->cfa_reg == 0;
}

/* Rows of .eh_frame that are another source's business, or wrong. */
static enum sfb_status judge_cfi(const struct sfb_rule *rule)
{
    if (rule->flags & SFB_RULE_SIGNAL)
        return SFB_NO_CFI; /* its caller is no return address */
    return is_context_for_cfa(rule) ? SFB_BAD_CFI : SFB_OK;
}

/* Whether what a module says may be remembered for this walk only. */
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
 * Whether a function of the unwinder is about to return to another frame. It writes the registers of that
 * frame over those that it has saved, its return address among them, and its row does not say when. So
 * frames may be passed over.
 */
static bool is_leaving(struct sfb_walk *w, const struct sfb_rule *rule)
{
    return rule->flags & SFB_RULE_EH_RETURN && (!sfb_walker_spend(w, SFB_ARCH_LEAVING_WORK) ||
                                                sfb_arch_is_leaving(&w->table_memory, w->regs.pc));
}

/*
 * Whether the instruction at an interrupted pc says more than the row, where the word at sp lies behind a
 * call. Here it did not (a fiber's first function returns to no call); with a remembered row the next
 * walk would not look.
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
        w->unproven = true; /* and it is not remembered: a rule of the cache does not say so */
    else if (remember && !is_told_by_code(w))
        remember_rule(w, pc + 1, rule);
    return follow_rule(w, rule);
}

/*
 * Goes by what .sframe says, or asks the others. What .eh_frame says of a module that has an
 * .sframe, too, is not remembered, so that what is remembered says from which of the two it is.
 *
 * @param status  of .sframe; SFB_OK: it has a rule, this one
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
            return follow_rule(w, rule); /* not remembered: it is not a return address's */
        }
        if (status == SFB_OK)
            status = judge_cfi(rule);
        if (status != SFB_OK)
            return status;
    }
    return use_row(w, pc, rule, *source == SFB_SOURCE_SFRAME || m->section_status != SFB_OK);
}

/* (Not remembered: what is remembered says that a table has it.) */
static __attribute__((noinline)) enum sfb_status step_at_sp(struct sfb_walk *w)
{
    const struct sfb_rule rule = sfb_arch_rule_at_sp();

    return follow_rule(w, &rule);
}

/*
 * Whether the row of an interrupted `ret` has the return address elsewhere than at sp, and behind a call, too. Then `ret` is
 * a jump to the word at sp, which may be the first instruction behind a call that does not return.
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
        /* Code of a known pattern keeps no frame record: fp is not its own. */
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
