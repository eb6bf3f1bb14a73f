/*
 * Executes rules: rule + registers + memory -> the caller's registers. The only place that does.
 *
 *        higher addresses
 *      |  caller's frame       |
 *      +-----------------------+ <- CFA = the caller's sp
 *      |  return address       |    CFA + ra.offset (x86-64: always -8; AArch64: or still in lr)
 *      |  saved fp             |    CFA + fp.offset
 *      |  callee's frame       |
 *      +-----------------------+ <- sp
 */
#include "unwind/walk/step.h"

#include "base/memory.h"
#include "unwind/machine/arch.h"

/* --- Rules that name any register ------------------------------------------------------------- */

static bool register_value(uint64_t *out, uint8_t reg, const struct sfb_regs *regs,
                           const struct sfb_context *context)
{
    switch (reg) {
    case SFB_ARCH_SP: *out = regs->sp; return true;
    case SFB_ARCH_FP: *out = regs->fp; return true;
    case SFB_ARCH_PC: *out = regs->pc; return true;
    default: break;
    }
    if (SFB_ARCH_LR && reg == SFB_ARCH_RA && regs->lr_known) {
        *out = regs->lr;
        return true;
    }
    if (!context || reg >= SFB_CONTEXT_REGS || !(context->valid >> reg & 1))
        return false;
    *out = context->reg[reg];
    return true;
}

static enum sfb_status read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    if (address & 7)
        return SFB_MISALIGNED;
    return sfb_memory_read(memory, address, out) ? SFB_OK : SFB_UNREADABLE;
}

enum sfb_status sfb_step_cfa(uint64_t *cfa, const struct sfb_regs *regs,
                             const struct sfb_rule *rule, struct sfb_memory *memory,
                             const struct sfb_context *context)
{
    static const uint8_t bases[] = { [SFB_BASE_SP] = SFB_ARCH_SP, [SFB_BASE_FP] = SFB_ARCH_FP };
    uint8_t reg = rule->cfa_base == SFB_BASE_REG ? rule->cfa_reg : bases[rule->cfa_base];
    enum sfb_status status;
    uint64_t base;

    if (!register_value(&base, reg, regs, context))
        return SFB_NO_REGISTER;
    base = (base & SFB_ARCH_DATA_MASK) + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->flags & SFB_RULE_CFA_DEREF) {
        status = read_word(memory, base, &base);
        if (status != SFB_OK)
            return status;
        base = (base & SFB_ARCH_DATA_MASK) + (uint64_t)(int64_t)rule->cfa_add;
    }
    *cfa = base;
    return SFB_OK;
}

enum sfb_status sfb_step_saved(uint64_t *out, const struct sfb_saved *saved, uint64_t cfa,
                               uint64_t unsaved, const struct sfb_regs *regs,
                               struct sfb_memory *memory, const struct sfb_context *context)
{
    uint64_t value = cfa;

    if (saved->where == SFB_WHERE_UNSAVED) {
        *out = unsaved;
        return SFB_OK;
    }
    if (saved->where == SFB_WHERE_AT_REG || saved->where == SFB_WHERE_IS_REG)
        if (!register_value(&value, saved->reg, regs, context))
            return SFB_NO_REGISTER;
    value += (uint64_t)(int64_t)saved->offset;
    if (saved->where == SFB_WHERE_CFA || saved->where == SFB_WHERE_AT_REG)
        return read_word(memory, value & SFB_ARCH_DATA_MASK, out);
    *out = value;
    return SFB_OK;
}

/*
 * The new sp may equal the old one: if nothing is pushed and RA is in a register; if a stack switch is half
 * done; or if a function has popped its return address, and its row still uses the word below sp (OCaml's
 * calls into C). Not in two steps in a row: a rule that leads back to itself would never end.
 */
static __attribute__((noinline)) enum sfb_status step_any_register(
    struct sfb_regs *regs, const struct sfb_rule *rule, struct sfb_memory *memory,
    const struct sfb_context *context)
{
    uint64_t cfa, ra, fp, sp;
    enum sfb_status status;

    if (rule->flags & SFB_RULE_OUTERMOST)
        return SFB_END;
    status = sfb_step_cfa(&cfa, regs, rule, memory, context);
    if (status != SFB_OK)
        return status;
    if (cfa & 7)
        return SFB_MISALIGNED;
    if (rule->ra.where == SFB_WHERE_UNSAVED && !regs->lr_known)
        return SFB_NO_REGISTER;
    status = sfb_step_saved(&ra, &rule->ra, cfa, regs->lr, regs, memory, context);
    if (status != SFB_OK)
        return status;
    status = sfb_step_saved(&fp, &rule->fp, cfa, regs->fp, regs, memory, context);
    /* Below sp it has been popped, and copies of stacks end there: the register has it again. */
    if (status == SFB_UNREADABLE && rule->fp.where == SFB_WHERE_CFA &&
        cfa + (uint64_t)(int64_t)rule->fp.offset < regs->sp) {
        fp = regs->fp;
        status = SFB_OK;
    }
    /*
     * Behind `leave` gcc keeps the row "fp at [fp + 0]" for two more instructions. There fp is
     * already the caller's, and may have any value.
     */
    if ((status == SFB_UNREADABLE || status == SFB_MISALIGNED) &&
        rule->fp.where == SFB_WHERE_AT_REG)
        fp = regs->fp;
    else if (status != SFB_OK)
        return status;
    status = sfb_step_saved(&sp, &rule->sp, cfa, cfa, regs, memory, context);
    if (status != SFB_OK)
        return status;
    sp &= SFB_ARCH_DATA_MASK;
    if (sp & 7)
        return SFB_MISALIGNED;
    if (sp < regs->sp || (sp == regs->sp && regs->sp_stayed))
        return SFB_NO_PROGRESS;
    ra &= SFB_ARCH_CODE_MASK;
    if (ra == 0)
        return SFB_ZERO_RA;

    *regs = (struct sfb_regs){ .pc = ra, .sp = sp, .fp = fp, .sp_stayed = sp == regs->sp };
    return SFB_OK;
}

/* --- Rules with fixed offsets ------------------------------------------------------------------
 */

enum sfb_status sfb_step(struct sfb_regs *regs, const struct sfb_rule *rule,
                         struct sfb_memory *memory, const struct sfb_context *context)
{
    uint64_t base = rule->cfa_base == SFB_BASE_SP ? regs->sp : regs->fp & SFB_ARCH_DATA_MASK;
    uint64_t cfa = base + (uint64_t)(int64_t)rule->cfa_offset;
    uint64_t ra, fp = regs->fp;

    if (__builtin_expect(rule->flags & (SFB_RULE_OUTERMOST | SFB_RULE_ANY_REGISTER), 0))
        return step_any_register(regs, rule, memory, context);
    /* One test for all words read below: the offsets of saved registers are checked with them. */
    if (cfa & 7)
        return SFB_MISALIGNED;

    /*
     * Callers lie further out than callees. Without this check a forged or stale fp makes a walk
     * endless. A frame that has pushed nothing yet, with its return address in lr, may stay in place;
     * lr is valid for one step only.
     */
    if (cfa < regs->sp)
        return SFB_NO_PROGRESS;
    if (__builtin_expect(cfa == regs->sp && rule->ra.where == SFB_WHERE_CFA, 0))
        return rule->cfa_base == SFB_BASE_SP ? step_any_register(regs, rule, memory, context)
                                             : SFB_NO_PROGRESS;

    if (rule->ra.where == SFB_WHERE_CFA) {
        uint64_t slot = cfa + (uint64_t)(int64_t)rule->ra.offset;

        if (slot & 7)
            return SFB_MISALIGNED;
        if (!sfb_memory_read(memory, slot, &ra))
            return SFB_UNREADABLE;
    } else {
        if (!regs->lr_known)
            return SFB_NO_REGISTER;
        ra = regs->lr;
    }
    if (rule->fp.where == SFB_WHERE_CFA) {
        uint64_t slot = cfa + (uint64_t)(int64_t)rule->fp.offset;

        if (slot & 7)
            return SFB_MISALIGNED;
        /* Below sp it has been popped, and copies of stacks end there: the register has it again. */
        if (!sfb_memory_read(memory, slot, &fp) && slot >= regs->sp)
            return SFB_UNREADABLE;
    }
    /*
     * Any return address may be signed, whatever the row states: rows of assembly are often wrong,
     * and the link register is signed between `paciasp` and the store.
     */
    ra &= SFB_ARCH_CODE_MASK;
    if (ra == 0)
        return SFB_ZERO_RA;

    regs->pc = ra;
    regs->sp = cfa;
    regs->fp = fp;
    regs->lr_known = false;
    regs->sp_stayed = false;
    return SFB_OK;
}
