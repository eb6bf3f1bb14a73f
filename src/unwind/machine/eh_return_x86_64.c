/*
 * The end of a function of the unwinder that returns to another frame than its caller: __builtin_eh_return(). Its code is
 * followed from the pc on. In libgcc:
 *
 *     e8 ...                  call uw_install_context_1     overwrites the registers saved here with that frame's
 *     e8 ...                  call _Unwind_DebugHook        a hook of debuggers
 *     f3 48 0f ae ee          incsspq %rsi                  and more of the kind, for shadow stacks
 *     48 89 cc                mov %rcx, %rsp                the end
 *     59 ff e1, or c3         pop %rcx; jmp *%rcx, or ret
 *
 * So the function is leaving if at most one call lies before the end. It is not leaving if two calls do, or if it returns to
 * its caller. Unclear code counts as leaving: a stack with an unproven end is true, a stack with a false end is not.
 *
 * Conditional jumps are not taken: behind the write only loops and asserts depend on them.
 *
 * Tried and dropped: a search for the bytes of the end within a fixed distance. The code before them has grown from 126
 * bytes (gcc 12) to 200 (gcc 14).
 */
#include "unwind/machine/insn_decode_x86_64.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/machine/insn_x86_64.h"

enum { CX = 1, SP = 4 };

static bool decode(struct sfb_memory *code, uint64_t pc, struct sfb_insn *out)
{
    enum { WORD = sizeof(uint64_t), WORDS = 3 };
    const unsigned skip = pc & 7;
    unsigned n = 0;
    union {
        uint64_t word[WORDS];
        uint8_t byte[WORDS * WORD];
    } bytes;

    while (n < WORDS && sfb_memory_read(code, pc - skip + n * WORD, &bytes.word[n]))
        n++;
    return n > 0 && sfb_insn_decode(out, bytes.byte + skip, n * WORD - skip);
}

/* mov %rcx, %rsp, in either encoding */
static bool is_end(const struct sfb_insn *i)
{
    return (i->opcode == 0x89 && i->mode == 3 && i->rm == SP && i->reg == CX) ||
           (i->opcode == 0x8b && i->mode == 3 && i->reg == SP && i->rm == CX);
}

static bool is_behind_end(struct sfb_memory *code, uint64_t pc)
{
    static const uint8_t store[] = { 0x48, 0x89, 0xcc }, load[] = { 0x48, 0x8b, 0xe1 };

    return sfb_insn_is(code, pc - sizeof store, store, sizeof store) ||
           sfb_insn_is(code, pc - sizeof load, load, sizeof load);
}

bool sfb_arch_is_leaving(struct sfb_memory *code, uint64_t pc)
{
    enum { CALLS_MAX = 1, RETURN = 0xc3, CALL = 0xe8, GROUP_5 = 0xff, CALL_5 = 2, JUMP_5 = 4 };
    struct sfb_insn insn;
    unsigned calls = 0;

    for (unsigned n = 0; n < SFB_ARCH_LEAVING_WORK && decode(code, pc, &insn); n++) {
        const bool one_byte = insn.map == SFB_INSN_ONE_BYTE && !insn.by_vector;
        const unsigned op = one_byte ? insn.opcode : 0, group = insn.reg & 7;

        if (op == RETURN)
            return is_behind_end(code, pc);
        if ((one_byte && is_end(&insn)) || (op == GROUP_5 && group == JUMP_5))
            return true;
        if ((op == CALL || (op == GROUP_5 && group == CALL_5)) && ++calls > CALLS_MAX)
            return false;
        pc += insn.length;
        if (op == 0xe9 || op == 0xeb) /* jmp */
            pc += (uint64_t)(int64_t)insn.immediate;
    }
    return true;
}
