/*
 * One step along the chain of frame records: a guess, for code that no table covers.
 *
 *     higher addresses
 *     |  the caller's record  | <--+  AAPCS64, "The Frame Pointer": x29 points at the innermost
 *     :                       :    |  record, each record at its caller's. Debian's arm64 libc
 *     |  return address       |    |  conforms.
 *     |  the caller's fp      | ---+
 *     +-----------------------+ <- fp
 *
 * Two things can go wrong. A function may not have stored a record (yet): then the chain skips its
 * caller. Or fp may be in use as a general register. Therefore:
 *
 * - A return address must lie behind a call instruction, or where a goroutine ends. Each record must lie
 *   further out than the one before.
 * - An interrupted function counts as having stored its record only if the record equals the link
 *   register: code behind its prologue and before its first call. Elsewhere either of the two may be the
 *   caller, and only a table could tell which.
 * - The place of a record within its frame is unknown, and so is the caller's sp. If the caller has rows,
 *   they give the distance of its record from its CFA, and its code shows whether it stored one. Then
 *   both are known again.
 *
 * On x86-64 the code of a module is more reliable than fp: it is followed from the pc to its return.
 *
 * proof.h tells whether a guess is proven.
 */
#include "unwind/walk/source_frame_pointer.h"

#include "base/memory.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/go.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/walk/module_rule.h"
#include "unwind/walk/position.h"
#include "unwind/walk/proof.h"
#include "unwind/walk/step.h"

/* Tells whether no table covers the pc. */
static bool is_uncovered(const struct sfb_walk *w)
{
    return w->current.missed[SFB_SOURCE_EH_FRAME] == SFB_NO_MODULE ||
           w->current.missed[SFB_SOURCE_EH_FRAME] == SFB_NO_EH_FRAME ||
           w->current.missed[SFB_SOURCE_EH_FRAME] == SFB_NO_CFI;
}

/*
 * Tells whether the pc is in a module. Code outside of modules may belong to a library that another thread is
 * unloading. Probed bytes of it may be unmapped before they are read, so little of it is read.
 */
static bool is_in_module(const struct sfb_walk *w)
{
    return w->current.missed[SFB_SOURCE_EH_FRAME] != SFB_NO_MODULE;
}

/*
 * Code outside of modules was made at run time. Its maker need not keep frame records behind its
 * outermost frame: that frame's caller may use fp as a general register.
 */
static bool is_believable(const struct sfb_walk *w, const struct sfb_regs *caller)
{
    if (SFB_ARCH_FRAME_RECORDS && (caller->fp & SFB_ARCH_DATA_MASK) != 0 &&
        (caller->fp & SFB_ARCH_DATA_MASK) < caller->sp)
        return false;
    return !SFB_ARCH_LR || w->current.kind != SFB_FRAME_PC ||
           (w->regs.lr_known && (w->regs.lr & SFB_ARCH_CODE_MASK) == caller->pc);
}

static bool is_proven(struct sfb_walk *w, enum sfb_guess guess, const struct sfb_regs *caller)
{
    const uint64_t record = caller->sp - 16;

    switch (guess) {
    case SFB_GUESS_BY_CODE: return true;
    case SFB_GUESS_BY_RECORD:
        return !sfb_can_hide_frame(w, record) || (is_in_module(w) && sfb_stores_record(w, record));
    case SFB_GUESS_AT_SP: break;
    }
    return false;
}

static bool can_return_to(struct sfb_walk *w, uint64_t address)
{
    return sfb_arch_is_call(&w->table_memory, address) ||
           (is_in_module(w) && sfb_arch_is_goroutine_end(&w->table_memory, address));
}

static bool goes_by(struct sfb_walk *w, const struct sfb_rule *rule, struct sfb_regs *caller)
{
    *caller = w->regs;
    return sfb_step(caller, rule, w->memory, NULL) == SFB_OK && is_believable(w, caller) &&
           can_return_to(w, caller->pc);
}

/*
 * Takes the word at sp if fp leads nowhere. For hand-written code of a module that is called by a pointer, where
 * the code or its callers use rbp as a general register.
 */
static bool goes_by_word_at_sp(struct sfb_walk *w, struct sfb_regs *caller)
{
    const struct sfb_rule rule = sfb_arch_rule_at_sp();

    return !SFB_ARCH_LR && w->current.kind == SFB_FRAME_PC && goes_by(w, &rule, caller);
}

/*
 * The same if that caller's row, applied there, leads to another return address. Tried before an unproven record.
 */
static __attribute__((noinline)) bool is_called_by_word_at_sp(struct sfb_walk *w,
                                                              struct sfb_regs *caller)
{
    const struct sfb_rule at_sp = sfb_arch_rule_at_sp();
    const struct sfb_module *module;
    struct sfb_rule rule;
    struct sfb_regs next;
    uint64_t start;

    if (SFB_ARCH_LR || w->current.kind != SFB_FRAME_PC || !is_in_module(w) ||
        !goes_by(w, &at_sp, caller))
        return false;
    module = w->modules->find(w->modules, caller->pc - 1, w->scratch);
    w->module = NULL; /* valid only until the next lookup */
    if (!module || sfb_module_rule(module, caller->pc - 1, &rule, &start) != SFB_OK ||
        rule.flags & (SFB_RULE_OUTERMOST | SFB_RULE_SIGNAL))
        return false;
    next = *caller;
    return sfb_step(&next, &rule, w->memory, NULL) == SFB_OK &&
           sfb_arch_is_call(&w->table_memory, next.pc);
}

/*
 * Follows hand-written code of a module, by its instructions, from the pc to its return. Not for code outside of modules:
 * little of it may be read.
 */
static __attribute__((noinline)) bool follows_code(struct sfb_walk *w, bool calls_return,
                                                   struct sfb_regs *caller)
{
    enum { INSNS_MAX = 2048 };
    struct sfb_rule rule;

    return !SFB_ARCH_LR && is_uncovered(w) && is_in_module(w) && sfb_walker_spend(w, INSNS_MAX) &&
           sfb_arch_follow_to_return(&w->table_memory, w->memory, &w->regs, calls_return, INSNS_MAX,
                                     &rule) &&
           goes_by(w, &rule, caller);
}

/*
 * Tells whether control reaches the pc: then the code there shows where the frame ends. A return address may lie behind a
 * call that does not return, unless the callee's code was followed to its return.
 */
static bool is_run(const struct sfb_walk *w)
{
    return w->current.kind == SFB_FRAME_PC ||
           (w->followed && w->current.source == SFB_SOURCE_FRAME_POINTER);
}

/* Tries all guesses, the most reliable first. @return whether one has led to a caller */
static __attribute__((noinline)) bool find_caller(struct sfb_walk *w, struct sfb_regs *caller)
{
    struct sfb_rule rule;
    enum sfb_guess guess = sfb_arch_guess(&w->table_memory, w->memory, &w->regs, w->current.kind,
                                          is_in_module(w), &rule);
    const bool by_code = guess == SFB_GUESS_BY_CODE, run = is_run(w);

    w->guess_unproven = false;
    w->followed =
        w->current.kind == SFB_FRAME_PC && sfb_arch_runs_at_return(&w->table_memory, w->regs.pc);
    if (by_code && goes_by(w, &rule, caller))
        return true;
    w->followed = run && follows_code(w, false, caller);
    if (w->followed)
        return true;
    if (!by_code && goes_by(w, &rule, caller) && is_proven(w, guess, caller))
        return true;
    w->guess_unproven = true;
    if (guess == SFB_GUESS_BY_RECORD &&
        (follows_code(w, true, caller) || is_called_by_word_at_sp(w, caller)))
        return true;
    if (!by_code && goes_by(w, &rule, caller))
        return true;
    return guess == SFB_GUESS_BY_RECORD && goes_by_word_at_sp(w, caller);
}

/* Steps over Go's asyncPreempt: its caller is an interrupted function. */
static __attribute__((noinline)) bool step_over_preempt(struct sfb_walk *w)
{
    enum { SEARCH_WORK = 128 };
    struct sfb_regs caller = w->regs;
    struct sfb_go_preempt preempt;
    uint64_t lr;

    if (!sfb_walker_spend(w, SEARCH_WORK) ||
        !sfb_arch_find_preempt(&w->table_memory, w->regs.pc, w->current.kind, &preempt) ||
        sfb_step(&caller, &preempt.rule, w->memory, NULL) != SFB_OK)
        return false;
    if (SFB_ARCH_LR &&
        sfb_memory_read(w->memory, caller.sp + (uint64_t)(int64_t)preempt.lr_offset, &lr)) {
        caller.lr = lr;
        caller.lr_known = true;
    }
    w->regs = caller;
    w->sp_lost = false;
    w->interrupted = true;
    return true;
}

enum sfb_status sfb_frame_pointer_step(struct sfb_walk *walker)
{
    struct sfb_regs caller;

    if (!SFB_ARCH_FRAME_RECORDS && !is_uncovered(walker))
        return SFB_NO_FRAME_RECORD;
    if (is_uncovered(walker) && is_in_module(walker) &&
        sfb_arch_is_goroutine_end(&walker->table_memory, walker->regs.pc))
        return SFB_END;
    /* If this frame comes from a wrong row, a further frame would hide that. */
    if (walker->current.kind == SFB_FRAME_RA &&
        !sfb_arch_is_call(&walker->table_memory, walker->regs.pc))
        return SFB_NO_FRAME_RECORD;
    if (is_uncovered(walker) && is_in_module(walker) && step_over_preempt(walker))
        return SFB_OK;
    /* A record of zero ends the chain. Without records, zero only means: not set since `_start`. */
    if (SFB_ARCH_FRAME_RECORDS && (walker->regs.fp & SFB_ARCH_DATA_MASK) == 0 &&
        (walker->current.source == SFB_SOURCE_FRAME_POINTER ||
         walker->current.source == SFB_SOURCE_UNPROVEN))
        return SFB_END;
    if (!find_caller(walker, &caller))
        return SFB_NO_FRAME_RECORD;
    walker->unproven |= walker->guess_unproven;
    walker->regs = caller;
    walker->sp_lost = SFB_ARCH_LR; /* AArch64: a record may lie anywhere in its frame */
    return SFB_OK;
}

enum sfb_status sfb_frame_pointer_find_sp(struct sfb_walk *walker, uint64_t pc)
{
    uint64_t fp = walker->regs.fp & SFB_ARCH_DATA_MASK, sp, start;
    struct sfb_rule rule;
    enum sfb_status status = sfb_module_rule(walker->module, pc, &rule, &start);

    if (status != SFB_OK)
        return status;
    if (rule.flags & (SFB_RULE_ANY_REGISTER | SFB_RULE_SIGNAL))
        return SFB_NO_REGISTER;
    if (rule.cfa_base == SFB_BASE_FP) { /* the next step does not need this sp */
        walker->sp_lost = false;
        return SFB_OK;
    }
    if (rule.fp.where != SFB_WHERE_CFA || rule.ra.where != SFB_WHERE_CFA ||
        rule.ra.offset != rule.fp.offset + 8 || !sfb_arch_sets_fp(&walker->table_memory, start, pc))
        return SFB_NO_REGISTER;
    sp = fp - (uint64_t)(int64_t)rule.fp.offset - (uint64_t)(int64_t)rule.cfa_offset;
    if (sp < walker->regs.sp || sp > fp)
        return SFB_NO_REGISTER;
    walker->regs.sp = sp;
    walker->sp_lost = false;
    return SFB_OK;
}
