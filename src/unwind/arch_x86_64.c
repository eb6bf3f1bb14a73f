/* x86-64 Linux: registers, signal trampolines, and where processes begin. */
#include "unwind/arch.h"

#include <asm/unistd.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "unwind/memory.h"

#define ALL_REGS ((1ull << SFB_CONTEXT_REGS) - 1)

/* DWARF number -> index into gregs. */
static const uint8_t greg[SFB_CONTEXT_REGS] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

enum sfb_status sfb_context_from_ucontext(struct sfb_context *out, const void *ucontext)
{
    const ucontext_t *uc = ucontext;

    if (!out || !uc)
        return SFB_BAD_ARGUMENT;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        out->reg[i] = (uint64_t)uc->uc_mcontext.gregs[greg[i]];
    out->valid = ALL_REGS;
    return SFB_OK;
}

void sfb_arch_regs(struct sfb_regs *out, const struct sfb_context *context)
{
    *out = (struct sfb_regs){ .pc = context->reg[SFB_ARCH_PC],
                              .sp = context->reg[SFB_ARCH_SP],
                              .fp = context->reg[SFB_ARCH_FP] };
}

void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs)
{
    out->reg[SFB_ARCH_PC] = regs->pc;
    out->reg[SFB_ARCH_SP] = regs->sp;
    out->reg[SFB_ARCH_FP] = regs->fp;
    out->valid = 1u << SFB_ARCH_PC | 1u << SFB_ARCH_SP | 1u << SFB_ARCH_FP;
}

/*
 * The C library hands the kernel a trampoline, `__restore_rt`, that nothing else may look like:
 *
 *     48 c7 c0 0f 00 00 00   mov $15, %rax      (rt_sigreturn)
 *     0f 05                  syscall
 *
 * Its bytes are asked, not its tables: musl, Go and static programs have none. A thread that is
 * interrupted inside of it may stand on either instruction.
 */
static const uint8_t trampoline[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
enum { SYSCALL_OFFSET = 7 };

static bool bytes_at(struct sfb_memory *code, uint64_t address, const uint8_t *want, uint64_t n)
{
    uint8_t have[sizeof trampoline];

    return sfb_memory_copy(code, address, have, n) && memcmp(have, want, n) == 0;
}

bool sfb_arch_is_trampoline(struct sfb_memory *code, uint64_t pc)
{
    return bytes_at(code, pc, trampoline, sizeof trampoline) ||
           (bytes_at(code, pc, trampoline + SYSCALL_OFFSET, sizeof trampoline - SYSCALL_OFFSET) &&
            bytes_at(code, pc - SYSCALL_OFFSET, trampoline, sizeof trampoline));
}

/* The handler's `ret` took its return address off struct rt_sigframe; the ucontext is next. */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp)
{
    uint64_t gregs = sp + offsetof(ucontext_t, uc_mcontext.gregs);

    if (sp & 7)
        return SFB_MISALIGNED;
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        if (!sfb_memory_read(stack, gregs + greg[i] * 8u, &out->reg[i]))
            return SFB_UNREADABLE;
    out->valid = ALL_REGS;
    return SFB_OK;
}

bool sfb_arch_is_outermost(const struct sfb_entries *entries, struct sfb_memory *code, uint64_t pc,
                           enum sfb_frame_kind kind)
{
    /* `_start` calls __libc_start_main, which never returns, and has a `hlt` behind the call. */
    static const uint8_t hlt[] = { 0xf4 };
    /* The loader's `_start` is 61 bytes in glibc 2.36: two calls and a jump to the program. */
    enum { LOADER_START_SIZE = 61 };

    if (kind != SFB_FRAME_RA)
        return (entries->program && pc == entries->program) ||
               (entries->loader && pc - entries->loader < LOADER_START_SIZE);
    return (entries->program && pc - 1 - entries->program < SFB_ARCH_ENTRY_SIZE &&
            bytes_at(code, pc, hlt, sizeof hlt)) ||
           (entries->loader && pc - 1 - entries->loader < LOADER_START_SIZE);
}

/* Linkers write .eh_frame, and .sframe, for every stub here. */
bool sfb_arch_stub_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    (void)code;
    (void)pc;
    (void)out;
    return false;
}

enum sfb_status sfb_arch_known_rule(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                                    struct sfb_rule *out)
{
    (void)code;
    (void)pc;
    (void)kind;
    (void)out;
    return SFB_NO_SHAPE;
}

/* --- Code without a table --------------------------------------------------------------------- */

/*
 * The call instructions that compilers make: e8 and a distance, or ff /2 with a register, or memory
 * by any mode; r8 to r15 take a prefix in front.
 */
bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra)
{
    enum { LONGEST = 7, PAGE = 4096 };
    uint8_t b[LONGEST] = { 0 };
    uint64_t size = LONGEST;

    /* The page before may not be there. */
    if (ra % PAGE < LONGEST && !sfb_memory_copy(code, ra - LONGEST, b, sizeof b))
        size = ra % PAGE;
    if (!sfb_memory_copy(code, ra - size, b + LONGEST - size, size))
        return false;
    if (b[LONGEST - 5] == 0xe8)
        return true;
    for (unsigned n = 2; n <= LONGEST; n++) {
        const uint8_t *at = b + LONGEST - n;
        unsigned mode = at[1] >> 6, rm = at[1] & 7, length = 2;

        if (at[0] != 0xff || (at[1] >> 3 & 7) != 2)
            continue;
        if (mode != 3 && rm == 4)
            length++; /* SIB */
        if (mode == 1)
            length += 1;
        else if (mode == 2 || (mode == 0 && rm == 5) || (mode == 0 && rm == 4 && (at[2] & 7) == 5))
            length += 4;
        if (length == n)
            return true;
    }
    return false;
}

/* @return whether the call before ra goes straight to somewhere not far before pc */
static bool is_call_of(struct sfb_memory *code, uint64_t ra, uint64_t pc)
{
    enum { FUNCTION_MAX = 4096 };
    uint8_t b[5];
    int32_t distance;

    if (!sfb_memory_copy(code, ra - sizeof b, b, sizeof b) || b[0] != 0xe8)
        return false;
    memcpy(&distance, b + 1, sizeof distance);
    return pc - (ra + (uint64_t)(int64_t)distance) < FUNCTION_MAX;
}

static struct sfb_rule frame_rule(enum sfb_base base, int32_t cfa, bool fp_stored)
{
    return (struct sfb_rule){ .cfa_base = (uint8_t)base,
                              .cfa_offset = cfa,
                              .ra_where = SFB_WHERE_CFA,
                              .ra_offset = -8,
                              .fp_where = fp_stored ? SFB_WHERE_CFA : SFB_WHERE_SAME,
                              .fp_offset = fp_stored ? -16 : 0 };
}

struct sfb_rule sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, enum sfb_frame_kind kind)
{
    enum { PUSH_RBP = 0x55, RET = 0xc3 };
    static const uint8_t mov[] = { PUSH_RBP, 0x48, 0x89, 0xe5 }; /* ...; mov %rsp, %rbp */
    uint64_t top;
    uint8_t here;

    if (kind == SFB_FRAME_PC) {
        /* A call that went nowhere: nothing has happened since. */
        if (!sfb_memory_copy(code, regs->pc, &here, sizeof here))
            return frame_rule(SFB_BASE_SP, 8, false);
        if (here == PUSH_RBP || here == RET)
            return frame_rule(SFB_BASE_SP, 8, false);
        if (bytes_at(code, regs->pc - 1, mov, sizeof mov))
            return frame_rule(SFB_BASE_SP, 16, true);
        /* A function that has pushed nothing, and was called straight. */
        if ((regs->sp & 7) == 0 && sfb_memory_read(stack, regs->sp, &top) &&
            is_call_of(code, top, regs->pc))
            return frame_rule(SFB_BASE_SP, 8, false);
    }
    return frame_rule(SFB_BASE_FP, 16, true);
}

/* Nobody asks: a record says where the caller's sp is. */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc)
{
    (void)code;
    (void)start;
    (void)pc;
    return false;
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
