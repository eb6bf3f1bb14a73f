/* Code of x86-64 that is known by its instructions: calls, prologues, epilogues and padding. */
#include "unwind/machine/insn_patterns.h"

#include "unwind/machine/arch.h"

#include <string.h>

#include "unwind/machine/insn_x86_64.h"

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
    return SFB_NO_CODE_PATTERN;
}

/*
 * What gas and LLVM pad with; any number of 66, and a 2e, may stand in front:
 *
 *     90                      nop; with 66 xchg %ax, %ax
 *     0f 1f 00                nopl (%rax)
 *     0f 1f 40 xx             nopl xx(%rax)
 *     0f 1f 44 xx xx          nopl xx(%rax,%rax,1)
 *     0f 1f 80 xx xx xx xx    nopl xx(%rax)
 *     0f 1f 84 xx ...         nopl xx(%rax,%rax,1), 8 bytes
 *
 * Read no further than to tell them: the next page may not be there.
 */
uint64_t sfb_arch_nop_size(struct sfb_memory *code, uint64_t pc)
{
    enum { LONGEST = 15 };
    uint8_t op, rest[2];
    uint64_t size = 0;

    do {
        if (!sfb_memory_copy(code, pc + size, &op, sizeof op))
            return 0;
        size++;
    } while ((op == 0x66 || op == 0x2e) && size < LONGEST);
    if (op == 0x90)
        return size;
    if (op != 0x0f || !sfb_memory_copy(code, pc + size, rest, sizeof rest) || rest[0] != 0x1f)
        return 0;
    switch (rest[1]) {
    case 0x00: size += 2; break;
    case 0x40: size += 3; break;
    case 0x44: size += 4; break;
    case 0x80: size += 6; break;
    case 0x84: size += 7; break;
    default: return 0;
    }
    return size <= LONGEST ? size : 0;
}

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
        else if (mode == 2 || (mode == 0 && rm == 5) ||
                 (mode == 0 && rm == 4 && n > 2 && (at[2] & 7) == 5))
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
                              .ra.where = SFB_WHERE_CFA,
                              .ra.offset = -8,
                              .fp.where = fp_stored ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED,
                              .fp.offset = fp_stored ? -16 : 0 };
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
        if (sfb_insn_is(code, regs->pc - 1, mov, sizeof mov))
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
