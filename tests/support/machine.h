/*
 * The machine whose stacks are walked, beyond what unwind/machine/arch.h says of it: the one place in the
 * tests that asks for the architecture.
 */
#ifndef SUPPORT_MACHINE_H
#define SUPPORT_MACHINE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "support/section_bytes.h"
#include "unwind/machine/arch.h"

/* What a section for this machine has in its header, and some other machine's. */
enum {
    MACHINE_FIXED_RA = SFB_ARCH_LR ? 0 : -8,
    OTHER_ABI = SFB_ARCH_LR ? SFB_ABI_AMD64_LE : SFB_ABI_AARCH64_LE,
    OTHER_FIXED_RA = SFB_ARCH_LR ? -8 : 0
};

/* Rows with the return address at CFA-8: always so on x86-64, and said by the row on AArch64. */
#define MACHINE_ROW(at, base, cfa)                                                                 \
    {                                                                                              \
        .start = (at), .info = ROW_INFO(SFB_ARCH_LR ? 2 : 1, 0, base), .offset = {(cfa), -8 }      \
    }
#define MACHINE_ROW_FP(at, base, cfa, fp)                                                          \
    {                                                                                              \
        .start = (at), .info = ROW_INFO(SFB_ARCH_LR ? 3 : 2, 0, base), .offset = {                 \
            (cfa),                                                                                 \
            SFB_ARCH_LR ? -8 : (fp),                                                               \
            (fp)                                                                                   \
        }                                                                                          \
    }

/*
 * machine_trampoline     what a signal handler returns to, two instructions
 * MACHINE_SYSCALL_AT     where the second one begins
 * machine_start          the beginning of a program's code, a call that never returns ...
 * MACHINE_START_RA       ... and where it would return to
 * MACHINE_UCONTEXT_AT    from sp at the trampoline: the ucontext
 * MACHINE_SAVED_...      ... and in it registers of the interrupted frame
 * MACHINE_FAULT          assembly: an instruction that raises SIGILL, of MACHINE_FAULT_SIZE bytes
 * MACHINE_CALL           assembly: the instruction that calls a symbol
 * MACHINE_RA             assembly: what tables call the return address
 * MACHINE_SP_FROM_FP     assembly: tables as longjmp() may have them: the caller's sp is what fp
 * is, its pc in the word that sp points at; for code of four nops MACHINE_NOP            bytes of a
 * nop
 * MACHINE_ODD_CFA        assembly: a row for a function's first instruction, with the CFA it has
 * there, plus 0 << 0
 * MACHINE_CALL_WORD      a word whose last bytes are a call
 * machine_padding        four bytes that assemblers pad with
 * MACHINE_STACK_...      bytes that a capture in a handler takes at most, whatever the compiler:
 * where .sframe answers, where it does in a way that takes more, in several such ways, where .eh_frame is
 * interpreted, where a walk starts again in a module that the cache has no room for, and where libunwind steps
 */
#if SFB_CONTEXT_X86_64

static const uint8_t machine_trampoline[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, /* mov $15, %rax */
                                              0x0f, 0x05 };                    /* syscall */
static const uint8_t machine_start[] = { 0xff, 0x15, 0, 0, 0, 0, 0xf4 };       /* call, hlt */
static const uint8_t machine_padding[] = { 0x0f, 0x1f, 0x40, 0x00 };           /* nopl 0(%rax) */
enum { MACHINE_SYSCALL_AT = 7, MACHINE_START_RA = 6, MACHINE_UCONTEXT_AT = 0 };
enum { MACHINE_SAVED_PC = 168, MACHINE_SAVED_SP = 160, MACHINE_SAVED_FP = 120 };

#define MACHINE_FAULT      "ud2"
#define MACHINE_CALL       "call"
#define MACHINE_CALL_WORD  0xe8000000u
#define MACHINE_RA         "rip"
#define MACHINE_ODD_CFA    ".cfi_escape 0x0f, 4, 0x77, 8, 0x30, 0x24\n"
#define MACHINE_SP_FROM_FP ".cfi_def_cfa rsp, 8\n.cfi_register rsp, rbp\n"
enum { MACHINE_FAULT_SIZE = 2, MACHINE_NOP = 1 };
enum {
    MACHINE_STACK_SFRAME = 1024,
    MACHINE_STACK_UNCOMMON = 1408,
    MACHINE_STACK_RARE = 1728,
    MACHINE_STACK_EH_FRAME = 2048,
    MACHINE_STACK_AGAIN = 2176,
    MACHINE_STACK_LIBUNWIND = 4608
};

#elif SFB_CONTEXT_AARCH64

static const uint8_t machine_trampoline[] = { 0x68, 0x11, 0x80, 0xd2,   /* mov x8, #139 */
                                              0x01, 0x00, 0x00, 0xd4 }; /* svc #0 */
static const uint8_t machine_start[] = { 0x00, 0x00, 0x00, 0x94,        /* bl */
                                         0x00, 0x00, 0x00, 0x94 };      /* bl */
static const uint8_t machine_padding[] = { 0x1f, 0x20, 0x03, 0xd5 };    /* nop */
enum { MACHINE_SYSCALL_AT = 4, MACHINE_START_RA = 4, MACHINE_UCONTEXT_AT = sizeof(siginfo_t) };
enum { MACHINE_SAVED_PC = 568, MACHINE_SAVED_SP = 560, MACHINE_SAVED_FP = 544 };

#define MACHINE_FAULT      "udf 0"
#define MACHINE_CALL       "bl"
#define MACHINE_CALL_WORD  0x9400000000000000u
#define MACHINE_RA         "x30"
#define MACHINE_ODD_CFA    ".cfi_escape 0x0f, 4, 0x8f, 0, 0x30, 0x24\n"
#define MACHINE_SP_FROM_FP ".cfi_def_cfa sp, 0\n.cfi_offset x30, 0\n.cfi_register sp, x29\n"
enum { MACHINE_FAULT_SIZE = 4, MACHINE_NOP = 4 };
enum {
    MACHINE_STACK_SFRAME = 1280,
    MACHINE_STACK_UNCOMMON = 1664,
    MACHINE_STACK_RARE = 2048,
    MACHINE_STACK_EH_FRAME = 2048,
    MACHINE_STACK_AGAIN = 2176,
    MACHINE_STACK_LIBUNWIND = 8704
};

#endif

/* What the kernel saves, on the machine that the tests run on. */
#if defined(__x86_64__) && SFB_CONTEXT_X86_64
static inline void machine_set_ucontext(ucontext_t *uc, uint64_t pc, uint64_t sp, uint64_t fp)
{
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    uc->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    uc->uc_mcontext.gregs[REG_RBP] = (greg_t)fp;
}

static inline void machine_set_lr(ucontext_t *uc, uint64_t lr)
{
    (void)uc;
    (void)lr;
}

static inline struct sfb_regs machine_regs(const ucontext_t *uc)
{
    return (struct sfb_regs){ .pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
                              .sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP],
                              .fp = (uint64_t)uc->uc_mcontext.gregs[REG_RBP] };
}
#elif defined(__aarch64__) && SFB_CONTEXT_AARCH64
static inline void machine_set_ucontext(ucontext_t *uc, uint64_t pc, uint64_t sp, uint64_t fp)
{
    uc->uc_mcontext.pc = pc;
    uc->uc_mcontext.sp = sp;
    uc->uc_mcontext.regs[SFB_ARCH_FP] = fp;
}

static inline void machine_set_lr(ucontext_t *uc, uint64_t lr)
{
    uc->uc_mcontext.regs[30] = lr;
}

static inline struct sfb_regs machine_regs(const ucontext_t *uc)
{
    return (struct sfb_regs){ .pc = uc->uc_mcontext.pc,
                              .sp = uc->uc_mcontext.sp,
                              .fp = uc->uc_mcontext.regs[SFB_ARCH_FP],
                              .lr = uc->uc_mcontext.regs[30],
                              .lr_known = true };
}
#endif

#endif
