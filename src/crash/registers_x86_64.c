#include <errno.h>
#include <ucontext.h>

#include "crash/registers.h"

/* trapno, err and cr2 are the processor's report of the fault; stale for signals that are not faults. */
static const struct {
    int number;
    const char *name;
} registers[] = {
    { REG_RIP, "rip" }, { REG_RSP, "rsp" },    { REG_RBP, "rbp" }, { REG_RAX, "rax" },
    { REG_RBX, "rbx" }, { REG_RCX, "rcx" },    { REG_RDX, "rdx" }, { REG_RSI, "rsi" },
    { REG_RDI, "rdi" }, { REG_R8, "r8" },      { REG_R9, "r9" },   { REG_R10, "r10" },
    { REG_R11, "r11" }, { REG_R12, "r12" },    { REG_R13, "r13" }, { REG_R14, "r14" },
    { REG_R15, "r15" }, { REG_EFL, "eflags" }, { REG_ERR, "err" }, { REG_TRAPNO, "trapno" },
    { REG_CR2, "cr2" },
};

struct sfb_crash_register sfb_crash_register(const void *ucontext, unsigned number)
{
    const ucontext_t *uc = ucontext;

    if (number >= sizeof registers / sizeof *registers)
        return (struct sfb_crash_register){ NULL, 0 };
    return (struct sfb_crash_register){ registers[number].name,
                                        (uint64_t)uc->uc_mcontext.gregs[registers[number].number] };
}

uint64_t sfb_crash_sp(const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    return (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
}

void sfb_crash_refuse_call(void *ucontext)
{
    ucontext_t *uc = ucontext;

    uc->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

/*
 * The kernel does not write a frame that would overflow an alternate stack. sp counts as on the stack
 * if its red zone is on it, too.
 */
void sfb_crash_end(uint64_t stack)
{
    uint64_t sp = stack ? stack + 256 : 0;

    __asm__ volatile("movq %0, %%rsp\n\tud2" ::"r"(sp) : "memory");
    __builtin_unreachable();
}
