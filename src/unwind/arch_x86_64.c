/* x86-64 Linux: registers, signal trampolines, and where processes begin. */
#include "unwind/arch.h"

#include <asm/unistd.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "unwind/insn_x86_64.h"

#define ALL_REGS ((1ull << SFB_CONTEXT_REGS) - 1)

/* DWARF number -> index into gregs. */
static const uint8_t greg[SFB_CONTEXT_REGS] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

enum sfb_status sfb_context_from_ucontext(struct sfb_context *out, const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    if (!out || !uc)
        return SFB_BAD_ARGUMENT;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        out->reg[i] = (uint64_t)uc->uc_mcontext.gregs[greg[i]];
    out->valid = ALL_REGS;
    return SFB_OK;
}

void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs)
{
    out->reg[SFB_ARCH_PC] = regs->pc;
    out->reg[SFB_ARCH_SP] = regs->sp;
    out->reg[SFB_ARCH_FP] = regs->fp;
    out->valid = 1u << SFB_ARCH_PC | 1u << SFB_ARCH_SP | 1u << SFB_ARCH_FP;
}

/*
 * The C library hands the kernel a trampoline, `__restore_rt`, that nothing else may look like:
 *
 *     48 c7 c0 0f 00 00 00   mov $15, %rax      (rt_sigreturn)
 *     0f 05                  syscall
 *
 * Its bytes are asked, not its tables: musl, Go and static programs have none. A thread that is
 * interrupted inside of it may stand on either instruction.
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

/* The handler's `ret` took its return address off struct rt_sigframe; the ucontext is next. */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp)
{
    uint64_t gregs = sp + offsetof(ucontext_t, uc_mcontext.gregs);

    if (sp & 7)
        return SFB_MISALIGNED;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        if (!sfb_memory_read(stack, gregs + greg[i] * 8u, &out->reg[i]))
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

long sfb_arch_sigprocmask(uint64_t how, uint64_t set)
{
    register uint64_t size __asm__("r10") = 8;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)__NR_rt_sigprocmask), "D"(how), "S"(set), "d"(0L), "r"(size)
                     : "rcx", "r11", "memory");
    return result;
}

long sfb_arch_syscall(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    register uint64_t fourth __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

/* Where the processor could tell, it has to be allowed to (FSGSBASE): the kernel always can. */
bool sfb_arch_has_thread_pointer(void)
{
    enum { GET_FS = 0x1003 }; /* ARCH_GET_FS of <asm/prctl.h> */
    uint64_t base = 0;

    return sfb_arch_syscall(SYS_arch_prctl, GET_FS, (uintptr_t)&base, 0, 0) != 0 || base != 0;
}

uint64_t sfb_arch_valgrind(const uint64_t request[6])
{
    uint64_t answer = 0;

    __asm__ volatile("rolq $3, %%rdi\n\t"
                     "rolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi\n\t"
                     "rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory", "rdi");
    return answer;
}
