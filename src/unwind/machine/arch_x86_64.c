/* x86-64 Linux: registers, signal trampolines, and where processes begin. */
#include "unwind/machine/arch_x86_64.h"

#include "unwind/machine/insn_x86_64.h"

#define ALL_REGS ((1ull << SFB_CONTEXT_REGS) - 1)

/* The kernel's order: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
const uint8_t sfb_arch_greg[SFB_CONTEXT_REGS] = { 13, 12, 14, 11, 9, 8, 10, 15, 0,
                                                  1,  2,  3,  4,  5, 6, 7,  16 };

void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs)
{
    out->reg[SFB_ARCH_PC] = regs->pc;
    out->reg[SFB_ARCH_SP] = regs->sp;
    out->reg[SFB_ARCH_FP] = regs->fp;
    out->valid = 1u << SFB_ARCH_PC | 1u << SFB_ARCH_SP | 1u << SFB_ARCH_FP;
}

/*
 * The C library gives the kernel a trampoline, `__restore_rt`. No other code may have these bytes:
 *
 *     48 c7 c0 0f 00 00 00   mov $15, %rax      (rt_sigreturn)
 *     0f 05                  syscall
 *
 * It is recognised by its bytes, not by its tables: in musl, Go and static programs it lacks tables. A
 * thread interrupted inside of it may be on either instruction.
 */
static const uint8_t trampoline[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
enum { SYSCALL_OFFSET = 7 };

bool sfb_arch_is_trampoline(struct sfb_memory *code, uint64_t pc)
{
    return sfb_insn_is(code, pc, trampoline, sizeof trampoline) ||
           (sfb_insn_is(code, pc, trampoline + SYSCALL_OFFSET,
                        sizeof trampoline - SYSCALL_OFFSET) &&
            sfb_insn_is(code, pc - SYSCALL_OFFSET, trampoline, sizeof trampoline));
}

/* The handler's `ret` has popped the return address from struct rt_sigframe; the ucontext is next. */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp)
{
    uint64_t gregs = sp + SFB_ARCH_GREGS_OFFSET;

    if (sp & 7)
        return SFB_MISALIGNED;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        if (!sfb_memory_read(stack, gregs + sfb_arch_greg[i] * 8u, &out->reg[i]))
            return SFB_UNREADABLE;
    out->valid = ALL_REGS;
    return SFB_OK;
}

bool sfb_arch_is_outermost(const struct sfb_entries *entries, struct sfb_memory *code, uint64_t pc,
                           enum sfb_frame_kind kind)
{
    /* `_start` calls __libc_start_main, which never returns, and has a `hlt` behind the call. */
    static const uint8_t hlt[] = { 0xf4 };
    /* The loader's `_start` is 61 bytes in glibc 2.36 to 2.43: two calls, a jump to the program. */
    enum { LOADER_START_SIZE = 61 };

    if (kind != SFB_FRAME_RA)
        return (entries->program && pc == entries->program) ||
               (entries->loader && pc - entries->loader < LOADER_START_SIZE);
    return (entries->program && pc - 1 - entries->program < SFB_ARCH_ENTRY_SIZE &&
            sfb_insn_is(code, pc, hlt, sizeof hlt)) ||
           (entries->loader && pc - 1 - entries->loader < LOADER_START_SIZE);
}
