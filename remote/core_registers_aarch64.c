/* struct user_regs_struct of <sys/user.h>: x0 to x30, sp, pc and pstate, in DWARF's order. */
#include "remote/core_registers.h"

void remote_core_registers(struct sfb_context *out, const uint64_t *words)
{
    out->valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        out->reg[i] = words[i];
}

/* Registers do not tell: x8 may hold anything outside of a call, and x0 is overwritten by its result. */
bool remote_core_call(struct sfb_remote_thread *out, const uint64_t *words)
{
    (void)out;
    (void)words;
    return false;
}
