#include <errno.h>
#include <ucontext.h>

#include "crash/registers.h"

static const char *const names[] = { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                     "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                     "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                     "x24", "x25", "x26", "x27", "x28", "x29", "x30" };

enum { PC, SP, GENERAL, PSTATE = GENERAL + sizeof names / sizeof *names, FAULT, REGISTERS };

_Static_assert((int)REGISTERS <= (int)SFB_CRASH_REGISTERS_MAX, "all registers");

struct sfb_crash_register sfb_crash_register(const void *ucontext, unsigned number)
{
    const mcontext_t *m = &((const ucontext_t *)ucontext)->uc_mcontext;

    switch (number) {
    case PC: return (struct sfb_crash_register){ "pc", m->pc };
    case SP: return (struct sfb_crash_register){ "sp", m->sp };
    case PSTATE: return (struct sfb_crash_register){ "pstate", m->pstate };
    case FAULT: return (struct sfb_crash_register){ "fault_address", m->fault_address };
    default: break;
    }
    if (number < GENERAL || number - GENERAL >= sizeof names / sizeof *names)
        return (struct sfb_crash_register){ NULL, 0 };
    return (struct sfb_crash_register){ names[number - GENERAL], m->regs[number - GENERAL] };
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
