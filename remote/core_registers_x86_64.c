/* struct user_regs_struct of <sys/user.h>, by index: this program may be of another machine. */
#include "remote/core_registers.h"

enum { R10 = 7, R9 = 8, R8 = 9, RDX = 12, RSI = 13, RDI = 14, ORIG_RAX = 15 };

void remote_core_registers(struct sfb_context *out, const uint64_t *words)
{
    /* By DWARF number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip. */
    static const uint8_t index[SFB_CONTEXT_REGS] = { 10, 12, 11, 5, 13, 14, 4, 19, 9,
                                                     8,  7,  6,  3, 2,  1,  0, 16 };

    out->valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        out->reg[i] = words[index[i]];
}

bool remote_core_call(struct sfb_remote_thread *out, const uint64_t *words)
{
    static const uint8_t index[] = { RDI, RSI, RDX, R10, R8, R9 };

    out->call = (int64_t)words[ORIG_RAX];
    for (unsigned i = 0; i < sizeof index; i++)
        out->argument[i] = words[index[i]];
    return out->call >= 0;
}
