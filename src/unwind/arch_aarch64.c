/* AArch64 Linux: registers, signal trampolines, where processes begin, and what instructions say.
 */
#include "unwind/arch.h"

#include <asm/unistd.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "unwind/memory.h"

enum { LR = 30 };

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

void sfb_arch_regs(struct sfb_regs *out, const struct sfb_context *context)
{
    out->pc = context->reg[SFB_ARCH_PC] & SFB_ARCH_CODE_MASK;
    out->sp = context->reg[SFB_ARCH_SP] & SFB_ARCH_DATA_MASK;
    out->fp = context->reg[SFB_ARCH_FP];
    out->lr_known = context->valid >> LR & 1;
    out->lr = out->lr_known ? context->reg[LR] : 0;
}

void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs)
{
    out->reg[SFB_ARCH_PC] = regs->pc;
    out->reg[SFB_ARCH_SP] = regs->sp;
    out->reg[SFB_ARCH_FP] = regs->fp;
    out->reg[LR] = regs->lr;
    out->valid = (uint64_t)1 << SFB_ARCH_PC | (uint64_t)1 << SFB_ARCH_SP |
                 (uint64_t)1 << SFB_ARCH_FP | (uint64_t)regs->lr_known << LR;
}

/* --- Instructions ----------------------------------------------------------------------------- */

/* Little-endian whatever the data's order is, Arm ARM "Instruction endianness". */
static bool instruction(struct sfb_memory *code, uint64_t address, uint32_t *out)
{
    uint8_t b[4];

    if ((address & 3) || !sfb_memory_copy(code, address, b, sizeof b))
        return false;
    *out = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

static bool is_bl(uint32_t insn)
{
    return insn >> 26 == 0x25;
}

/* blr x0 to x30, and blraa, blrab, blraaz, blrabz, which authenticate their target */
static bool is_blr(uint32_t insn)
{
    return (insn & 0xfffffc1f) == 0xd63f0000 || (insn & 0xfefff800) == 0xd63f0800;
}

/* Any branch: conditional or not, direct or by register. */
static bool is_branch(uint32_t insn)
{
    return (insn & 0x7c000000) == 0x14000000 || (insn & 0xff000000) == 0x54000000 ||
           (insn & 0x7c000000) == 0x34000000 || (insn & 0xfe000000) == 0xd6000000;
}

bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra)
{
    uint32_t insn;

    return instruction(code, ra - 4, &insn) && (is_bl(insn) || is_blr(insn));
}

struct sfb_rule sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, enum sfb_frame_kind kind)
{
    (void)code;
    (void)stack;
    (void)regs;
    (void)kind;
    return (struct sfb_rule){ .cfa_base = SFB_BASE_FP,
                              .cfa_offset = 16,
                              .ra_where = SFB_WHERE_CFA,
                              .ra_offset = -8,
                              .fp_where = SFB_WHERE_CFA,
                              .fp_offset = -16 };
}

/*
 * A function that keeps a frame pointer sets it once, in its prologue, when the record is stored:
 *
 *     910003fd   add x29, sp, #imm      (imm in bits 10 to 21; `mov x29, sp` is #0)
 */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc)
{
    enum { PROLOGUE_MAX = 64 * 4 };
    uint32_t insn;

    for (uint64_t at = start; at < pc && at - start < PROLOGUE_MAX; at += 4) {
        if (!instruction(code, at, &insn))
            return false;
        if ((insn & 0xffc003ff) == 0x910003fd)
            return true;
    }
    return false;
}

/*
 * Stubs of the PLT, by GNU ld, gold, lld and mold. No linker writes a table for them.
 *
 *     d503245f   bti c                          where branch targets are checked
 *     a9bf7bf0   stp x16, x30, [sp, #-16]!      in the first entry only, which binds lazily
 *     9xxxxxx0   adrp x16, slot
 *     f94xxx11   ldr x17, [x16, slot]
 *     91xxxx10   add x16, x16, slot
 *     d503219f   autia1716                      where slots are signed
 *     d61f0220   br x17
 */
enum stub_part { BTI, STP, ADRP, LDR, ADD, AUTIA, BR, NO_PART };

static enum stub_part stub_part(struct sfb_memory *code, uint64_t address)
{
    static const struct {
        uint32_t mask, value;
    } parts[] = {
        [BTI] = { 0xffffffff, 0xd503245f },  [STP] = { 0xffffffff, 0xa9bf7bf0 },
        [ADRP] = { 0x9f00001f, 0x90000010 }, [LDR] = { 0xffc003ff, 0xf9400211 },
        [ADD] = { 0xffc003ff, 0x91000210 },  [AUTIA] = { 0xffffffff, 0xd503219f },
        [BR] = { 0xffffffff, 0xd61f0220 },
    };
    uint32_t insn;

    if (!instruction(code, address, &insn))
        return NO_PART;
    for (unsigned i = 0; i < NO_PART; i++)
        if ((insn & parts[i].mask) == parts[i].value)
            return (enum stub_part)i;
    return NO_PART;
}

bool sfb_arch_stub_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    enum stub_part here = stub_part(code, pc), part = here, next;
    uint64_t at = pc;
    unsigned seen = 1u << here;

    if (here == NO_PART)
        return false;
    /* Its parts follow each other in this order, to the branch and back to where they begin. */
    for (; part != BR; part = next) {
        next = stub_part(code, at += 4);
        if (next == NO_PART || next <= part)
            return false;
        seen |= 1u << next;
    }
    for (at = pc, part = here; part > BTI; part = next) {
        next = stub_part(code, at -= 4);
        if (next >= part)
            break;
        seen |= 1u << next;
    }
    if ((seen & (1u << ADRP | 1u << LDR | 1u << ADD)) != (1u << ADRP | 1u << LDR | 1u << ADD))
        return false;

    *out = (struct sfb_rule){ .cfa_base = SFB_BASE_SP };
    if (here > STP && (seen & 1u << STP)) {
        out->cfa_offset = 16;
        out->ra_where = SFB_WHERE_CFA;
        out->ra_offset = -8;
    }
    return true;
}

static void set_rule(struct sfb_rule *out, int32_t cfa_offset, enum sfb_where ra_where)
{
    *out = (struct sfb_rule){ .cfa_base = SFB_BASE_SP,
                              .cfa_offset = cfa_offset,
                              .ra_where = (uint8_t)ra_where,
                              .ra_offset = -8 };
}

/*
 * Where the first entry of the PLT goes: _dl_runtime_resolve() of glibc.
 *
 *     d503245f   bti c, or nop
 *     a9bxx7e8   stp x8, x9, [sp, #-N]!      no compiled function stores these first
 *     ...                                    no branch but the call of _dl_fixup()
 *     a8cxx7e8   ldp x8, x9, [sp], #N
 *     a8c17bf1   ldp x17, x30, [sp], #16     what that entry pushed
 *     d61f0200   br x16
 *
 * Its table leaves those 16 bytes out, and who believes it goes astray in the next frame.
 */
static bool find_resolver_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    enum { LENGTH_MAX = 40 * 4 };
    const uint32_t pair = 0xffc07fff, stp = 0xa98027e8, ldp = 0xa8c027e8, ldp_lr = 0xa8c17bf1;
    uint32_t here, before, next;

    if (!instruction(code, pc, &here) || !instruction(code, pc - 4, &before))
        return false;
    if ((here & pair) == stp ||
        ((here == 0xd503245f || here == 0xd503201f) && instruction(code, pc + 4, &next) &&
         (next & pair) == stp) ||
        (here == ldp_lr && (before & pair) == ldp)) {
        set_rule(out, 16, SFB_WHERE_CFA);
        return true;
    }
    if (before == ldp_lr && here == 0xd61f0200) {
        set_rule(out, 0, SFB_WHERE_SAME);
        return true;
    }
    for (uint64_t at = pc - 4; pc - at <= LENGTH_MAX && instruction(code, at, &before); at -= 4) {
        if ((before & pair) == stp) {
            set_rule(out, 16 + 8 * (128 - (int32_t)(before >> 15 & 127)), SFB_WHERE_CFA);
            return true;
        }
        if (is_branch(before) && !is_bl(before))
            return false;
    }
    return false;
}

/*
 * longjmp() of glibc loads the registers of where it goes to one after the other, these at last:
 *
 *     a94xxx1d   ldp x29, xN, [x0, #imm]
 *     caxxxx1e   eor x30, xN, xM
 *     91000x1f   mov sp, xN
 *     d61f03c0   br x30              which hardly any other code ends in
 *
 * Its table counts the CFA from the jump buffer all the way, where neither of the two stacks is.
 */
static enum sfb_status find_jump_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    enum { LENGTH_MAX = 32 * 4 };
    const uint32_t br_lr = 0xd61f03c0;
    unsigned to_come = 0;
    uint32_t insn = 0;

    for (uint64_t at = pc; insn != br_lr; at += 4) {
        if (at - pc >= LENGTH_MAX || !instruction(code, at, &insn) ||
            (is_branch(insn) && insn != br_lr))
            return SFB_NO_SHAPE;
        to_come += (insn & 0xffc0001f) == 0xa940001d || (insn & 0xffe0fc1f) == 0xca00001e ||
                   (insn & 0xfffffc1f) == 0x9100001f;
    }
    if (to_come != 0 && to_come != 3)
        return SFB_NO_REGISTER; /* some are the one's, some the other's */
    set_rule(out, 0, SFB_WHERE_SAME);
    return SFB_OK;
}

enum sfb_status sfb_arch_known_rule(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                                    struct sfb_rule *out)
{
    if (find_resolver_rule(code, pc, out))
        return SFB_OK;
    /* longjmp() calls nothing. */
    return kind == SFB_FRAME_PC ? find_jump_rule(code, pc, out) : SFB_NO_SHAPE;
}

/* --- Signals ---------------------------------------------------------------------------------- */

/*
 * Handlers return to a trampoline in the vDSO (or of whoever emulates the kernel):
 *
 *     d2801168   mov x8, #139      (rt_sigreturn)
 *     d4000001   svc #0
 *
 * A thread that is interrupted inside of it may stand on either instruction.
 */
bool sfb_arch_is_trampoline(struct sfb_memory *code, uint64_t pc)
{
    const uint32_t mov = 0xd2801168, svc = 0xd4000001;
    uint32_t here, other;

    if (!instruction(code, pc, &here))
        return false;
    if (here == mov)
        return instruction(code, pc + 4, &other) && other == svc;
    return here == svc && instruction(code, pc - 4, &other) && other == mov;
}

/* At the trampoline sp is struct rt_sigframe again: a siginfo_t, then the ucontext_t. */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp)
{
    uint64_t mcontext = sp + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext);
    uint64_t regs = mcontext + offsetof(mcontext_t, regs);

    if (sp & 7)
        return SFB_MISALIGNED;
    /* x0 to x30, sp and pc follow each other there as they do in our context. */
    _Static_assert(offsetof(mcontext_t, sp) == offsetof(mcontext_t, regs) + SFB_ARCH_SP * 8, "sp");
    _Static_assert(offsetof(mcontext_t, pc) == offsetof(mcontext_t, regs) + SFB_ARCH_PC * 8, "pc");
    for (unsigned i = 0; i < SFB_CONTEXT_REGS; i++)
        if (!sfb_memory_read(stack, regs + i * 8u, &out->reg[i]))
            return SFB_UNREADABLE;
    out->valid = ((uint64_t)1 << SFB_CONTEXT_REGS) - 1;
    return SFB_OK;
}

/* --- Where processes begin -------------------------------------------------------------------- */

/* `_start` calls __libc_start_main(), which never returns, and abort() right behind it. */
static bool in_start(struct sfb_memory *code, uint64_t entry, uint64_t pc)
{
    uint32_t insn, before = 0;

    if (entry == 0 || pc - entry >= SFB_ARCH_ENTRY_SIZE)
        return false;
    for (uint64_t at = entry; at < entry + SFB_ARCH_ENTRY_SIZE; at += 4) {
        if (!instruction(code, at, &insn))
            return false;
        if (is_bl(before) && is_bl(insn))
            return pc < at;
        before = insn;
    }
    return false;
}

bool sfb_arch_is_outermost(const struct sfb_entries *entries, struct sfb_memory *code, uint64_t pc,
                           enum sfb_frame_kind kind)
{
    /* The loader's `_start` is 72 bytes in glibc 2.36: two calls and a jump to the program. */
    enum { LOADER_START_SIZE = 72 };
    uint64_t lookup_pc = pc - (kind == SFB_FRAME_RA);

    return (entries->program && lookup_pc == entries->program) ||
           in_start(code, entries->program, lookup_pc) ||
           (entries->loader && lookup_pc - entries->loader < LOADER_START_SIZE);
}

/* --- The kernel ------------------------------------------------------------------------------- */

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
