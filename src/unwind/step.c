/*
 * rule + registers + memory -> the caller's registers: the one place that executes rules.
 *
 *        higher addresses
 *      |  caller's frame       |
 *      +-----------------------+ <- CFA = the caller's sp
 *      |  return address       |    CFA + ra_offset (x86-64: always -8; AArch64: or still in lr)
 *      |  saved fp             |    CFA + fp_offset
 *      |  callee's frame       |
 *      +-----------------------+ <- sp
 */
#include "unwind/step.h"

#include "unwind/arch.h"
#include "unwind/memory.h"

enum sfb_status sfb_step(struct sfb_regs *regs, const struct sfb_rule *rule,
                         struct sfb_memory *memory)
{
    uint64_t base = rule->cfa_base == SFB_BASE_SP ? regs->sp : regs->fp & SFB_ARCH_DATA_MASK;
    uint64_t cfa = base + (uint64_t)(int64_t)rule->cfa_offset;
    uint64_t ra, fp = regs->fp;

    if (rule->flags & SFB_RULE_OUTERMOST)
        return SFB_END;
    /* One test for all words read below: the offsets of saved registers are checked with them. */
    if (cfa & 7)
        return SFB_MISALIGNED;

    /*
     * Callers lie outside of their callees. Without this a forged or stale fp makes a walk go round
     * for ever. Only a frame that has pushed nothing yet, its return address in lr, may stay in
     * place, and lr is good for one step.
     */
    if (cfa < regs->sp || (cfa == regs->sp && rule->ra_where == SFB_WHERE_CFA))
        return SFB_NO_PROGRESS;

    if (rule->ra_where == SFB_WHERE_CFA) {
        uint64_t slot = cfa + (uint64_t)(int64_t)rule->ra_offset;

        if (slot & 7)
            return SFB_MISALIGNED;
        if (!sfb_memory_read(memory, slot, &ra))
            return SFB_UNREADABLE;
    } else {
        if (!regs->lr_known)
            return SFB_NO_REGISTER;
        ra = regs->lr;
    }
    if (rule->fp_where == SFB_WHERE_CFA) {
        uint64_t slot = cfa + (uint64_t)(int64_t)rule->fp_offset;

        if (slot & 7)
            return SFB_MISALIGNED;
        if (!sfb_memory_read(memory, slot, &fp))
            return SFB_UNREADABLE;
    }
    /*
     * Every return address may be signed, whatever the row says: a row is wrong where somebody
     * wrote assembly, and a link register is signed between `paciasp` and the store.
     */
    ra &= SFB_ARCH_CODE_MASK;
    if (ra == 0)
        return sfb_zero_ra(fp);

    regs->pc = ra;
    regs->sp = cfa;
    regs->fp = fp;
    regs->lr_known = false;
    return SFB_OK;
}
