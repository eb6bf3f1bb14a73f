#include "unwind/machine/native.h"

#include <asm/unistd.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "unwind/machine/arch.h"

enum { LR = 30 };

_Static_assert(sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, regs) ==
                   SFB_ARCH_SIGFRAME_REGS,
               "see inline_aarch64.h");
_Static_assert(offsetof(mcontext_t, sp) == offsetof(mcontext_t, regs) + SFB_ARCH_SP * 8, "sp");
_Static_assert(offsetof(mcontext_t, pc) == offsetof(mcontext_t, regs) + SFB_ARCH_PC * 8, "pc");

enum sfb_status sfb_context_from_ucontext(struct sfb_context *out, const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    if (!out || !uc)
        return SFB_BAD_ARGUMENT;
    for (unsigned i = 0; i <= LR; i++)
        out->reg[i] = uc->uc_mcontext.regs[i];
    out->reg[SFB_ARCH_SP] = uc->uc_mcontext.sp;
    out->reg[SFB_ARCH_PC] = uc->uc_mcontext.pc;
    out->valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1;
    return SFB_OK;
}

long sfb_arch_sigprocmask(uint64_t how, uint64_t set)
{
    register long number __asm__("x8") = __NR_rt_sigprocmask;
    register uint64_t x0 __asm__("x0") = how;
    register uint64_t x1 __asm__("x1") = set;
    register uint64_t x2 __asm__("x2") = 0;
    register uint64_t x3 __asm__("x3") = 8;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(number), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return (long)x0;
}

long sfb_arch_syscall(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    register long x8 __asm__("x8") = number;
    register uint64_t x0 __asm__("x0") = a;
    register uint64_t x1 __asm__("x1") = b;
    register uint64_t x2 __asm__("x2") = c;
    register uint64_t x3 __asm__("x3") = d;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return (long)x0;
}

bool sfb_arch_has_thread_pointer(void)
{
    return sfb_arch_thread_pointer() != 0;
}

uint64_t sfb_arch_valgrind(const uint64_t request[6])
{
    register uint64_t answer __asm__("x3") = 0;
    register const uint64_t *x4 __asm__("x4") = request;

    __asm__ volatile("ror x12, x12, #3\n\t"
                     "ror x12, x12, #13\n\t"
                     "ror x12, x12, #51\n\t"
                     "ror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(x4)
                     : "cc", "memory", "x12");
    return answer;
}
