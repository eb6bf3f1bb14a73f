#include <errno.h>
#include <ucontext.h>

#include "crash/registers.h"

static const char *const names[] = { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                     "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                     "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                     "x24", "x25", "x26", "x27", "x28", "x29", "x30" };

void sfb_crash_registers(struct sfb_text *text, const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    sfb_crash_register(text, "pc", uc->uc_mcontext.pc);
    sfb_crash_register(text, "sp", uc->uc_mcontext.sp);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        sfb_crash_register(text, names[i], uc->uc_mcontext.regs[i]);
    sfb_crash_register(text, "pstate", uc->uc_mcontext.pstate);
    sfb_crash_register(text, "fault_address", uc->uc_mcontext.fault_address);
}

uint64_t sfb_crash_sp(const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    return uc->uc_mcontext.sp;
}

void sfb_crash_refuse_call(void *ucontext)
{
    ucontext_t *uc = ucontext;

    uc->uc_mcontext.regs[0] = (uint64_t)-ENOSYS;
}

/* The frame would lie below the stack: on its guard page. */
void sfb_crash_end(uint64_t stack)
{
    uint64_t sp = stack ? stack + 16 : 0;

    __asm__ volatile("mov sp, %0\n\tudf 0" ::"r"(sp) : "memory");
    __builtin_unreachable();
}
