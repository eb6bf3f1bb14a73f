/*
 * Recognises code of AArch64 by its instructions: calls, prologues, stubs without a linker's table, and
 * glibc's functions with a wrong table.
 */
#include "unwind/machine/insn_patterns.h"

#include "unwind/machine/arch.h"
#include "unwind/machine/insn_aarch64.h"

#define INSN_NOP 0xd503201fu

bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra)
{
    uint32_t insn;

    return sfb_insn_read(code, ra - 4, &insn) && (sfb_insn_is_bl(insn) || sfb_insn_is_blr(insn));
}

/* Tables of compilers are right up to `ret`: the return address is in the link register there. */
bool sfb_arch_returns_at_sp(struct sfb_memory *code, struct sfb_memory *stack,
                            const struct sfb_regs *regs)
{
    (void)code;
    (void)stack;
    (void)regs;
    return false;
}

bool sfb_arch_runs_at_return(struct sfb_memory *code, uint64_t pc)
{
    (void)code;
    (void)pc;
    return false;
}

struct sfb_rule sfb_arch_rule_at_sp(void)
{
    return (struct sfb_rule){ .flags = SFB_RULE_OUTERMOST };
}

/* No false end was measured here. */
bool sfb_arch_is_leaving(struct sfb_memory *code, uint64_t pc)
{
    (void)code;
    (void)pc;
    return false;
}

enum sfb_guess sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                              const struct sfb_regs *regs, enum sfb_frame_kind kind, bool in_module,
                              struct sfb_rule *out)
{
    (void)in_module;
    (void)code;
    (void)stack;
    (void)regs;
    (void)kind;
    *out = (struct sfb_rule){ .cfa_base = SFB_BASE_FP,
                              .cfa_offset = 16,
                              .ra.where = SFB_WHERE_CFA,
                              .ra.offset = -8,
                              .fp.where = SFB_WHERE_CFA,
                              .fp.offset = -16 };
    return SFB_GUESS_BY_RECORD;
}

/*
 * A function with a frame pointer sets it once, in its prologue, after it has stored the record:
 *
 *     910003fd   add x29, sp, #imm      (imm in bits 10 to 21; `mov x29, sp` is #0)
 */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc)
{
    enum { PROLOGUE_MAX = 64 * 4 };
    uint32_t insn;

    for (uint64_t at = start; at < pc && at - start < PROLOGUE_MAX; at += 4) {
        if (!sfb_insn_read(code, at, &insn))
            return false;
        if ((insn & 0xffc003ff) == 0x910003fd)
            return true;
    }
    return false;
}

uint64_t sfb_arch_nop_size(struct sfb_memory *code, uint64_t pc)
{
    uint32_t insn;

    return sfb_insn_read(code, pc, &insn) && insn == INSN_NOP ? sizeof insn : 0;
}

/*
 * Stubs of the PLT, by GNU ld, gold, lld and mold. No linker writes a table for them.
 *
 *     d503245f   bti c                          where branch targets are checked
 *     a9bf7bf0   stp x16, x30, [sp, #-16]!      in the first entry only, which binds lazily
 *     9xxxxxx0   adrp x16, slot
 *     f94xxx11   ldr x17, [x16, slot]
 *     91xxxx10   add x16, x16, slot             a no-op where that is 0, as binutils 2.46 has it
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

    if (!sfb_insn_read(code, address, &insn))
        return NO_PART;
    if (insn == INSN_NOP)
        return ADD;
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
    /* The parts are in this order: forward to the branch, and back to the start. */
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
        out->ra.where = SFB_WHERE_CFA;
        out->ra.offset = -8;
    }
    return true;
}

static void set_rule(struct sfb_rule *out, int32_t cfa_offset, enum sfb_where ra_where)
{
    *out = (struct sfb_rule){ .cfa_base = SFB_BASE_SP,
                              .cfa_offset = cfa_offset,
                              .ra.where = (uint8_t)ra_where,
                              .ra.offset = -8 };
}

/*
 * The target of the PLT's first entry: _dl_runtime_resolve() of glibc.
 *
 *     d503245f   bti c, or nop
 *     a9bxx7e8   stp x8, x9, [sp, #-N]!      no compiled function stores these first
 *     ...                                    no branch but the call of _dl_fixup()
 *     a8cxx7e8   ldp x8, x9, [sp], #N
 *     a8c17bf1   ldp x17, x30, [sp], #16     the words that the PLT entry pushed
 *     d61f0200   br x16
 *
 * Its table leaves those 16 bytes out: a walk by the table goes wrong in the next frame.
 */
static bool find_resolver_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    enum { LENGTH_MAX = 40 * 4 };
    const uint32_t pair = 0xffc07fff, stp = 0xa98027e8, ldp = 0xa8c027e8, ldp_lr = 0xa8c17bf1;
    uint32_t here, before, next;

    if (!sfb_insn_read(code, pc, &here) || !sfb_insn_read(code, pc - 4, &before))
        return false;
    if ((here & pair) == stp ||
        ((here == 0xd503245f || here == 0xd503201f) && sfb_insn_read(code, pc + 4, &next) &&
         (next & pair) == stp) ||
        (here == ldp_lr && (before & pair) == ldp)) {
        set_rule(out, 16, SFB_WHERE_CFA);
        return true;
    }
    if (before == ldp_lr && here == 0xd61f0200) {
        set_rule(out, 0, SFB_WHERE_UNSAVED);
        return true;
    }
    for (uint64_t at = pc - 4; pc - at <= LENGTH_MAX && sfb_insn_read(code, at, &before); at -= 4) {
        if ((before & pair) == stp) {
            set_rule(out, 16 + 8 * (128 - (int32_t)(before >> 15 & 127)), SFB_WHERE_CFA);
            return true;
        }
        if (sfb_insn_is_branch(before) && !sfb_insn_is_bl(before))
            return false;
    }
    return false;
}

/*
 * longjmp() of glibc loads the target's registers one after the other, these last:
 *
 *     a94xxx1d   ldp x29, xN, [x0, #imm]
 *     caxxxx1e   eor x30, xN, xM
 *     91000x1f   mov sp, xN
 *     d61f03c0   br x30              which hardly any other code ends in
 *
 * Its table bases the CFA on the jump buffer throughout, but neither of the two stacks is there.
 */
static enum sfb_status find_jump_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    enum { LENGTH_MAX = 32 * 4 };
    const uint32_t br_lr = 0xd61f03c0;
    unsigned to_come = 0;
    uint32_t insn = 0;

    for (uint64_t at = pc; insn != br_lr; at += 4) {
        if (at - pc >= LENGTH_MAX || !sfb_insn_read(code, at, &insn) ||
            (sfb_insn_is_branch(insn) && insn != br_lr))
            return SFB_NO_CODE_PATTERN;
        to_come += (insn & 0xffc0001f) == 0xa940001d || (insn & 0xffe0fc1f) == 0xca00001e ||
                   (insn & 0xfffffc1f) == 0x9100001f;
    }
    if (to_come != 0 && to_come != 3)
        return SFB_NO_REGISTER; /* some registers are the old stack's, some the new one's */
    set_rule(out, 0, SFB_WHERE_UNSAVED);
    return SFB_OK;
}

enum sfb_status sfb_arch_known_rule(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                                    struct sfb_rule *out)
{
    if (find_resolver_rule(code, pc, out))
        return SFB_OK;
    /* longjmp() calls nothing. */
    return kind == SFB_FRAME_PC ? find_jump_rule(code, pc, out) : SFB_NO_CODE_PATTERN;
}

/* Not on AArch64: a function that realigns its stack finds its frame by x29 until `ldp x29, x30`. */
bool sfb_arch_has_restored_fp(struct sfb_memory *code, uint64_t pc, bool sp_set)
{
    (void)code;
    (void)pc;
    (void)sp_set;
    return false;
}

bool sfb_arch_may_jump_by_return(struct sfb_memory *code, uint64_t pc)
{
    (void)code;
    (void)pc;
    return false;
}

/* Not needed: on AArch64 records give the ends of frames. */
bool sfb_arch_follow_to_return(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, bool calls_return, uint32_t work,
                               struct sfb_rule *out)
{
    (void)calls_return;
    (void)code;
    (void)stack;
    (void)regs;
    (void)work;
    (void)out;
    return false;
}

bool sfb_arch_is_direct_call(struct sfb_memory *code, uint64_t ra)
{
    uint32_t insn;

    return sfb_insn_read(code, ra - 4, &insn) && sfb_insn_is_bl(insn);
}

/* Not needed: gcc leaves functions whole there, unless it was given a profile. */
uint64_t sfb_arch_find_jump(struct sfb_memory *code, uint64_t at, uint64_t end, uint64_t lo,
                            uint64_t hi, uint64_t *target)
{
    (void)code;
    (void)at;
    (void)end;
    (void)lo;
    (void)hi;
    (void)target;
    return 0;
}
