#include "unwind/machine/native.h"

#include <asm/unistd.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "unwind/machine/arch_x86_64.h"

_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == SFB_ARCH_GREGS_OFFSET,
               "see arch_x86_64.h");
_Static_assert(REG_R8 == 0 && REG_R15 == 7 && REG_RDI == 8 && REG_RSI == 9 && REG_RBP == 10 &&
                   REG_RBX == 11 && REG_RDX == 12 && REG_RAX == 13 && REG_RCX == 14 &&
                   REG_RSP == 15 && REG_RIP == 16,
               "see sfb_arch_greg");

enum sfb_status sfb_context_from_ucontext(struct sfb_context *out, const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    if (!out || !uc)
        return SFB_BAD_ARGUMENT;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        out->reg[i] = (uint64_t)uc->uc_mcontext.gregs[sfb_arch_greg[i]];
    out->valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1;
    return SFB_OK;
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

/* By the kernel: the processor's own instruction (FSGSBASE) may be missing or not enabled. */
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
