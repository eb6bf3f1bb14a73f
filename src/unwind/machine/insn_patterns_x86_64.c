/* Recognises code of x86-64 by its instructions: calls, prologues, epilogues and padding. */
#include "unwind/machine/insn_patterns.h"

#include "unwind/machine/arch.h"

#include <string.h>

#include "unwind/machine/go_x86_64.h"
#include "unwind/machine/insn_decode_x86_64.h"
#include "unwind/machine/insn_x86_64.h"

static struct sfb_rule frame_rule(enum sfb_base base, int32_t cfa, bool fp_stored)
{
    return (struct sfb_rule){ .cfa_base = (uint8_t)base,
                              .cfa_offset = cfa,
                              .ra.where = SFB_WHERE_CFA,
                              .ra.offset = -8,
                              .fp.where = fp_stored ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED,
                              .fp.offset = fp_stored ? -16 : 0 };
}

/*
 * The frame of Swift's async functions, which keep their context below its record. Most of them have no row, and the rows of
 * others leave the second push out until the instruction behind `lea` (LLVM 17):
 *
 *     55                      push %rbp
 *     41 56                   push %r14
 *     48 8d 6c 24 08          lea 8(%rsp), %rbp
 *     ...
 *     5d                      pop %rbp
 *     48 0f ba f5 3c          btr $60, %rbp
 *     e9, ff                  jmp
 */
enum sfb_status sfb_arch_known_rule(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                                    struct sfb_rule *out)
{
    const uint64_t enter = 0x08246c8d48564155, clear = 0x3cf5ba0f48, five = 0xffffffffff;
    uint64_t before, here;

    if (kind != SFB_FRAME_PC || !sfb_insn_peek(code, pc - 8, 8, &before))
        return SFB_NO_CODE_PATTERN;
    if (!sfb_insn_peek(code, pc, 8, &here))
        here = 0;
    if (before == enter)
        *out = frame_rule(SFB_BASE_FP, 16, true);
    else if (before >> 40 == (enter & 0xffffff) && (here & five) == enter >> 24)
        *out = frame_rule(SFB_BASE_SP, 24, true);
    else if (before >> 56 == (enter & 0xff) && here << 8 >> 8 == enter >> 8)
        *out = frame_rule(SFB_BASE_SP, 16, true);
    else if ((here & five) == clear || before >> 24 == clear)
        *out = frame_rule(SFB_BASE_SP, 8, false);
    else
        return SFB_NO_CODE_PATTERN;
    return SFB_OK;
}

/*
 * Padding of gas and LLVM; any number of 66, and a 2e, may precede it:
 *
 *     90                      nop; with 66 xchg %ax, %ax
 *     0f 1f 00                nopl (%rax)
 *     0f 1f 40 xx             nopl xx(%rax)
 *     0f 1f 44 xx xx          nopl xx(%rax,%rax,1)
 *     0f 1f 80 xx xx xx xx    nopl xx(%rax)
 *     0f 1f 84 xx ...         nopl xx(%rax,%rax,1), 8 bytes
 *
 * Reads no byte more than needed: the next page may be unmapped.
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
 * The call instructions of compilers: e8 and a distance, or ff /2 with a register, or with memory in any
 * mode; r8 to r15 need a prefix.
 */
bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra)
{
    enum { LONGEST = 7, PAGE = 4096 };
    unsigned size = LONGEST;
    uint64_t bytes, at;

    /* The page before may be unmapped. */
    if (!sfb_insn_peek(code, ra - LONGEST, LONGEST, &bytes)) {
        size = ra % PAGE;
        if (size == 0 || size >= LONGEST || !sfb_insn_peek(code, ra - size, size, &bytes))
            return false;
        bytes <<= 8 * (LONGEST - size);
    }
    if ((bytes >> 8 * (LONGEST - 5) & 0xff) == 0xe8)
        return true;
    for (unsigned n = 2; n <= LONGEST; n++) {
        unsigned mode, rm, length = 2;

        at = bytes >> 8 * (LONGEST - n);
        mode = at >> 14 & 3;
        rm = at >> 8 & 7;
        if ((at & 0xff) != 0xff || (at >> 11 & 7) != 2)
            continue;
        if (mode != 3 && rm == 4)
            length++; /* SIB */
        if (mode == 1)
            length += 1;
        else if (mode == 2 || (mode == 0 && rm == 5) ||
                 (mode == 0 && rm == 4 && n > 2 && (at >> 16 & 7) == 5))
            length += 4;
        if (length == n)
            return true;
    }
    return false;
}

/* @return whether the word at sp can be the return address of the frame with this sp */
static bool is_return_at_sp(struct sfb_memory *code, struct sfb_memory *stack, uint64_t sp,
                            uint64_t *out)
{
    return (sp & 7) == 0 && sfb_memory_read(stack, sp, out) && sfb_arch_is_call(code, *out);
}

/* @return whether the call before ra is direct, and goes to pc or less than `size` bytes before it */
static bool is_call_of(struct sfb_memory *code, uint64_t ra, uint64_t pc, uint64_t size)
{
    uint8_t b[5];
    int32_t distance;

    if (!sfb_memory_copy(code, ra - sizeof b, b, sizeof b) || b[0] != 0xe8)
        return false;
    memcpy(&distance, b + 1, sizeof distance);
    return pc - (ra + (uint64_t)(int64_t)distance) < size;
}

static __attribute__((noinline)) bool is_byte(struct sfb_memory *code, uint64_t address,
                                              uint8_t want)
{
    uint64_t b;

    return sfb_insn_peek(code, address, 1, &b) && b == want;
}

/*
 *     c3                      ret; a prefix may stand in front: f3 (for old AMD), f2 (for MPX)
 *     c2 xx xx                ret, which drops arguments
 */
static bool is_return(struct sfb_memory *code, uint64_t pc)
{
    if (is_byte(code, pc, 0xf3) || is_byte(code, pc, 0xf2))
        return is_byte(code, pc + 1, 0xc3);
    return is_byte(code, pc, 0xc3) || is_byte(code, pc, 0xc2);
}

/*
 * `mov %reg, (%rsp)`: the word at sp is not a return address. A `ret` behind it is a jump that the processor cannot
 * predict: a retpoline.
 *
 *     4c 89 1c 24             mov %r11, (%rsp)        48: of rax to rdi
 */
static bool is_store_at_sp(struct sfb_memory *code, uint64_t address)
{
    uint64_t insn;

    return sfb_insn_peek(code, address, 4, &insn) && (insn & 0xffc7fffb) == 0x24048948;
}

enum { STORE_AT_SP = 4 };

static bool is_jump_by_return(struct sfb_memory *code, uint64_t pc)
{
    return is_return(code, pc) && is_store_at_sp(code, pc - STORE_AT_SP);
}

/* jmp, direct or indirect: e9, eb, ff /4, with or without a prefix */
static bool is_jump(struct sfb_memory *code, uint64_t pc)
{
    uint64_t insn;

    if (is_byte(code, pc, 0xf2) || is_byte(code, pc, 0x3e))
        pc++;
    if (is_byte(code, pc, 0x41))
        pc++;
    return is_byte(code, pc, 0xe9) || is_byte(code, pc, 0xeb) ||
           (sfb_insn_peek(code, pc, 2, &insn) && (insn & 0x38ff) == 0x20ff);
}

/* jmp *slot(%rip), with or without its prefix */
static bool is_jump_through_slot(struct sfb_memory *code, uint64_t pc)
{
    uint64_t at = pc + is_byte(code, pc, 0xf2);

    return is_byte(code, at, 0xff) && is_byte(code, at + 1, 0x25);
}

/* endbr64 */
static bool is_landing(struct sfb_memory *code, uint64_t pc)
{
    return is_byte(code, pc, 0xf3) && is_byte(code, pc + 1, 0x0f) && is_byte(code, pc + 2, 0x1e) &&
           is_byte(code, pc + 3, 0xfa);
}

/*
 * A stub of the PLT where branch targets are checked, at either of its instructions:
 *
 *     f3 0f 1e fa             endbr64
 *     [f2] ff 25 ...          [bnd] jmp *slot(%rip)
 */
static bool is_checked_stub(struct sfb_memory *code, uint64_t pc)
{
    return is_jump_through_slot(code, pc)
               ? is_landing(code, pc - 4)
               : is_landing(code, pc) && is_jump_through_slot(code, pc + 4);
}

/*
 * Linkers write .eh_frame and .sframe for all stubs here, except stubs of IRELATIVE slots in static
 * programs:
 *
 *     ff 25 xx xx xx xx       jmp *slot(%rip)
 *     66 90                   xchg %ax, %ax
 */
bool sfb_arch_stub_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    enum { JUMP_SIZE = 6 };

    if (!is_byte(code, pc, 0xff) || !is_byte(code, pc + 1, 0x25) ||
        !is_byte(code, pc + JUMP_SIZE, 0x66) || !is_byte(code, pc + JUMP_SIZE + 1, 0x90))
        return false;
    *out = frame_rule(SFB_BASE_SP, 8, false);
    return true;
}

bool sfb_arch_runs_at_return(struct sfb_memory *code, uint64_t pc)
{
    return is_return(code, pc) || is_checked_stub(code, pc);
}

bool sfb_arch_returns_at_sp(struct sfb_memory *code, struct sfb_memory *stack,
                            const struct sfb_regs *regs)
{
    uint64_t ra;

    return (is_return(code, regs->pc) || is_checked_stub(code, regs->pc)) &&
           !is_jump_by_return(code, regs->pc) && is_return_at_sp(code, stack, regs->sp, &ra);
}

/*
 * Instructions that raise sp, by their last bytes:
 *
 *     58 to 5f, c9            pop, leave
 *     48 83 c4 nn             add $n, %rsp
 *     48 8d 64 24 nn          lea n(%rsp), %rsp: thunks for returns, with the row of the call before
 *
 * (A single byte can be the end of another instruction. Then the word at sp is trusted.)
 */
static bool has_raised_sp(struct sfb_memory *code, uint64_t pc)
{
    enum { LONGEST = 5 };
    uint64_t before;
    unsigned last;

    if (!sfb_insn_peek(code, pc - LONGEST, LONGEST, &before))
        return false;
    last = before >> 8 * (LONGEST - 1) & 0xff;
    return (last & 0xf8) == 0x58 || last == 0xc9 || (before >> 8 & 0xffffff) == 0xc48348 ||
           (before & 0xffffffff) == 0x24648d48;
}

bool sfb_arch_may_jump_by_return(struct sfb_memory *code, uint64_t pc)
{
    return is_return(code, pc) && !has_raised_sp(code, pc);
}

bool sfb_arch_is_direct_call(struct sfb_memory *code, uint64_t ra)
{
    enum { CALL = 0xe8, NEAR = 1 << 24 };
    uint64_t insn;
    int32_t distance;

    if (!sfb_insn_peek(code, ra - 5, 5, &insn) || (insn & 0xff) != CALL)
        return false;
    distance = (int32_t)(insn >> 8);
    return distance > -NEAR && distance < NEAR;
}

/* e9 is jmp, 0f 80 to 0f 8f are its conditional forms, each with a distance of four bytes. */
uint64_t sfb_arch_find_jump(struct sfb_memory *code, uint64_t at, uint64_t end, uint64_t lo,
                            uint64_t hi, uint64_t *target)
{
    for (uint64_t insn; at < end && sfb_insn_peek(code, at, 6, &insn); at++) {
        const unsigned opcode = (insn & 0xff) == 0xe9 ? 1 : (insn & 0xf0ff) == 0x800f ? 2 : 0;

        *target = at + opcode + 4 + (uint64_t)(int64_t)(int32_t)(insn >> 8 * opcode);
        if (opcode != 0 && *target - lo < hi - lo)
            return at;
    }
    return 0;
}

struct sfb_rule sfb_arch_rule_at_sp(void)
{
    return frame_rule(SFB_BASE_SP, 8, false);
}

/*
 * @return bytes of the instruction if it is `lea n(%reg), %rsp`, of any register but rbp; else 0
 *
 *     49 8d 62 nn             lea n(%r10), %rsp       48: of rbx, for one; a2: n has four bytes
 *     49 8d 64 24 nn          lea n(%r12), %rsp
 */
static unsigned set_sp_size(uint64_t insn)
{
    const unsigned rex = insn & 0xff, modrm = insn >> 16 & 0xff, mode = modrm >> 6,
                   base = modrm & 7;
    const bool sib = base == 4;

    if ((rex & 0xfe) != 0x48 || (insn >> 8 & 0xff) != 0x8d || (modrm >> 3 & 7) != 4 ||
        (mode != 1 && mode != 2) || (base == 5 && rex == 0x48) ||
        (sib && (insn >> 24 & 0xff) != 0x24))
        return 0;
    return (sib ? 4u : 3u) + (mode == 1 ? 1u : 4u);
}

/* @return bytes of `pop %reg`, of any register but rsp and rbp; 0: another instruction */
static unsigned pop_size(uint64_t insn)
{
    const bool high = (insn & 0xff) == 0x41;
    const unsigned op = (high ? insn >> 8 : insn) & 0xff;

    if ((op & 0xf8) != 0x58 || (!high && (op == 0x5c || op == 0x5d)) || (high && op == 0x5c))
        return 0;
    return high ? 2 : 1;
}

/* @return bytes of an instruction that has nothing to do with the frame; 0: it may have */
static unsigned beside_size(struct sfb_memory *code, uint64_t pc)
{
    enum { WORD = 8 };
    uint8_t bytes[2 * WORD];
    struct sfb_insn insn;
    uint64_t word;

    if (!sfb_insn_peek(code, pc, WORD, &word))
        return 0;
    memcpy(bytes, &word, WORD);
    if (sfb_insn_decode(&insn, bytes, WORD))
        return sfb_insn_only_computes(&insn) ? insn.length : 0;
    if (!sfb_insn_peek(code, pc + WORD, WORD, &word))
        return 0;
    memcpy(bytes + WORD, &word, WORD);
    return sfb_insn_decode(&insn, bytes, sizeof bytes) && sfb_insn_only_computes(&insn)
               ? insn.length
               : 0;
}

/*
 * The end of a function that has realigned its stack. Behind `leave` or `pop %rbp`, gcc's row still states that fp
 * is in the word at fp.
 *
 *     c9, or 5d               leave, or pop %rbp
 *     49 8d 62 f8             lea -8(%r10), %rsp
 *     41 5d                   pop %r13                where r13, not r10, has led to the frame
 *     48 89 d0                mov %rdx, %rax          gcc 15 and later: between any of them, what does not touch sp or fp
 *     c3, or a jump           ret, or another function's return instead
 *
 * Where nothing up to the return restores fp, it is restored.
 */
bool sfb_arch_has_restored_fp(struct sfb_memory *code, uint64_t pc, bool sp_set)
{
    enum { INSNS_MAX = 16, LEA = 8 };
    unsigned size;
    uint64_t insn;

    for (unsigned n = 0; n < INSNS_MAX; n++, pc += size) {
        if (is_return(code, pc) || (sp_set && is_jump(code, pc)))
            return true;
        size = sfb_insn_peek(code, pc, LEA, &insn) ? set_sp_size(insn) : 0;
        sp_set |= size > 0;
        if (size == 0)
            size = sfb_insn_peek(code, pc, 2, &insn) ? pop_size(insn) : 0;
        if (size == 0)
            size = beside_size(code, pc);
        if (size == 0)
            return false;
    }
    return false;
}

/*
 * Behind the `push %rbp` at the start of a function, in either encoding of the next instruction:
 *
 *     55                      push %rbp
 *     48 89 e5, or 48 8b ec   mov %rsp, %rbp
 */
static bool has_pushed_fp(struct sfb_memory *code, uint64_t pc)
{
    static const uint8_t store[] = { 0x55, 0x48, 0x89, 0xe5 }, load[] = { 0x55, 0x48, 0x8b, 0xec };

    return sfb_insn_is(code, pc - 1, store, sizeof store) ||
           sfb_insn_is(code, pc - 1, load, sizeof load);
}

/*
 * Instructions that show the distance to the return address, at an interrupted pc or at a return address.
 */
static bool find_frame_by_code(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out)
{
    int64_t size = is_return(code, pc) ? 0 : sfb_go_frame_size(code, pc);

    if (is_jump_by_return(code, pc) ||
        (is_store_at_sp(code, pc) && is_return(code, pc + STORE_AT_SP)))
        size = 8;
    if (size < 0)
        return false;
    *out = frame_rule(SFB_BASE_SP, 8 + (int32_t)size, false);
    return true;
}

enum sfb_guess sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                              const struct sfb_regs *regs, enum sfb_frame_kind kind, bool in_module,
                              struct sfb_rule *out)
{
    enum { PUSH_RBP = 0x55, FUNCTION_MAX = 4096 };
    uint64_t top;
    uint8_t here;

    if (find_frame_by_code(code, regs->pc, out))
        return SFB_GUESS_BY_CODE;
    *out = frame_rule(SFB_BASE_SP, 8, false);
    if (kind == SFB_FRAME_PC) {
        /* A call to an address without code: the call was the last thing to happen. */
        if (!sfb_memory_copy(code, regs->pc, &here, sizeof here))
            return SFB_GUESS_BY_CODE;
        if (here == PUSH_RBP)
            return SFB_GUESS_BY_CODE;
        if (has_pushed_fp(code, regs->pc)) {
            *out = frame_rule(SFB_BASE_SP, 16, true);
            return SFB_GUESS_BY_CODE;
        }
        /*
         * A function that has pushed nothing, as at its first instruction. In a module functions are many
         * and their calls direct: there the word at sp is more often left from an old frame.
         */
        if (is_return_at_sp(code, stack, regs->sp, &top)) {
            if (is_call_of(code, top, regs->pc, 1))
                return SFB_GUESS_BY_CODE;
            if (!in_module || is_call_of(code, top, regs->pc, FUNCTION_MAX))
                return SFB_GUESS_AT_SP;
        }
    }
    *out = frame_rule(SFB_BASE_FP, 16, true);
    return SFB_GUESS_BY_RECORD;
}

/* Never called here: on x86-64 a record gives the caller's sp. */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc)
{
    (void)code;
    (void)start;
    (void)pc;
    return false;
}
