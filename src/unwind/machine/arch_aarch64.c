/* AArch64 Linux: registers, signal trampolines, and where processes begin. */
#include "unwind/machine/arch.h"

#include "unwind/machine/insn_aarch64.h"

enum { LR = 30 };

void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs)
{
    out->reg[SFB_ARCH_PC] = regs->pc;
    out->reg[SFB_ARCH_SP] = regs->sp;
    out->reg[SFB_ARCH_FP] = regs->fp;
    out->reg[LR] = regs->lr;
    out->valid = (uint64_t)1 << SFB_ARCH_PC | (uint64_t)1 << SFB_ARCH_SP |
                 (uint64_t)1 << SFB_ARCH_FP | (uint64_t)regs->lr_known << LR;
}

/* --- Signals ---------------------------------------------------------------------------------- */

/*
 * Signal handlers return to a trampoline in the vDSO (or in a kernel emulator):
 *
 *     d2801168   mov x8, #139      (rt_sigreturn)
 *     d4000001   svc #0
 *
 * A thread interrupted inside of it may be on either instruction.
 */
bool sfb_arch_is_trampoline(struct sfb_memory *code, uint64_t pc)
{
    const uint32_t mov = 0xd2801168, svc = 0xd4000001;
    uint32_t here, other;

    if (!sfb_insn_read(code, pc, &here))
        return false;
    if (here == mov)
        return sfb_insn_read(code, pc + 4, &other) && other == svc;
    return here == svc && sfb_insn_read(code, pc - 4, &other) && other == mov;
}

/* At the trampoline sp is struct rt_sigframe again: a siginfo_t, then the ucontext_t. */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp)
{
    /* x0 to x30, sp and pc are there in the same order as in our context. */
    uint64_t regs = sp + SFB_ARCH_SIGFRAME_REGS;

    if (sp & 7)
        return SFB_MISALIGNED;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        if (!sfb_memory_read(stack, regs + i * 8u, &out->reg[i]))
            return SFB_UNREADABLE;
    out->valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1;
    return SFB_OK;
}

/* --- Where processes begin -------------------------------------------------------------------- */

/* `_start` calls __libc_start_main(), which never returns, and abort() right behind it. */
static bool in_start(struct sfb_memory *code, uint64_t entry, uint64_t pc)
{
    uint32_t insn, before = 0;

    if (entry == 0 || pc - entry >= SFB_ARCH_ENTRY_SIZE)
        return false;
    for (uint64_t at = entry; at < entry + SFB_ARCH_ENTRY_SIZE; at += 4) {
        if (!sfb_insn_read(code, at, &insn))
            return false;
        if (sfb_insn_is_bl(before) && sfb_insn_is_bl(insn))
            return pc < at;
        before = insn;
    }
    return false;
}

bool sfb_arch_is_outermost(const struct sfb_entries *entries, struct sfb_memory *code, uint64_t pc,
                           enum sfb_frame_kind kind)
{
    /* The loader's `_start` is 72 bytes in glibc 2.36: two calls and a jump to the program. */
    enum { LOADER_START_SIZE = 72 };
    uint64_t lookup_pc = pc - (kind == SFB_FRAME_RA);

    return (entries->program && lookup_pc == entries->program) ||
           in_start(code, entries->program, lookup_pc) ||
           (entries->loader && lookup_pc - entries->loader < LOADER_START_SIZE);
}
