/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * Registers: the few that rules restore, and the full set of a frame. The only public header that
 * depends on the architecture.
 */
#ifndef SFB_CONTEXT_H
#define SFB_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Machine of the unwound stacks: the compiler's target, unless SFB_MACHINE_* names another. */
#if defined(SFB_MACHINE_X86_64) || (defined(__x86_64__) && !defined(SFB_MACHINE_AARCH64))
#define SFB_CONTEXT_X86_64  1
#define SFB_CONTEXT_AARCH64 0
#elif defined(SFB_MACHINE_AARCH64) || defined(__aarch64__)
#define SFB_CONTEXT_X86_64  0
#define SFB_CONTEXT_AARCH64 1
#else
#error "sframe-backtrace knows x86-64 and AArch64"
#endif

/*
 * SFB_CONTEXT_REGS: registers of a frame, by DWARF number.
 *     x86-64:   rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, and the pc as 16.
 *     AArch64:  x0 to x30 (x29 is the frame pointer, x30 the link register), sp, and the pc as 32.
 */
#if SFB_CONTEXT_X86_64
#define SFB_CONTEXT_REGS 17
#else
#define SFB_CONTEXT_REGS 33
#endif

/*
 * The registers that rules restore. lr is AArch64's link register. It is known only in the
 * innermost frame and in a frame that a signal interrupted; never on x86-64.
 */
struct sfb_regs {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    uint64_t lr;
    bool lr_known;
    bool sp_stayed; /* the step to this frame left sp unchanged: the next step must move it */
};

/* All registers of one frame. */
struct sfb_context {
    uint64_t reg[SFB_CONTEXT_REGS];
    uint64_t valid; /* bit n: reg[n] is known */
};

#endif
