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
