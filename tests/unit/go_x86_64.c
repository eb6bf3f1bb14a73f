/* Go's asyncPreempt on x86-64, as its compiler writes it, and with one thing wrong in it. */
#include <string.h>

#include "support/test.h"
#include "unwind/machine/go.h"

#define BASE 0x400000u

enum { START = 32, REGISTERS = 14, VECTORS = 16 };

static uint8_t code[640];

/* Where its parts begin. */
static struct {
    unsigned save, call, restore, give_space, ret;
} at;

static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address < BASE || address - BASE > sizeof code - 8)
        return false;
    memcpy(out, code + (address - BASE), 8);
    return true;
}

static struct sfb_memory code_memory = { .read = read_fake };

static unsigned put(unsigned to, const void *bytes, size_t size)
{
    memcpy(code + to, bytes, size);
    return to + (unsigned)size;
}

/* mov of the n-th register but rsp and rbp, and m(%rsp), m = 8n; 89: stores it, 8b: loads it */
static unsigned put_mov(unsigned to, unsigned n, uint8_t opcode)
{
    static const uint8_t numbers[REGISTERS] = { 0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    const unsigned reg = numbers[n];
    const uint8_t bytes[] = { reg < 8 ? 0x48 : 0x4c, opcode,
                              (uint8_t)((n ? 0x44 : 0x04) | (reg & 7) << 3), 0x24,
                              (uint8_t)(8 * n) };

    return put(to, bytes, n ? 5 : 4);
}

/* movups of the n-th vector register and m(%rsp), m = 112 + 16n; 11: stores it, 10: loads it */
static unsigned put_movups(unsigned to, unsigned n, uint8_t opcode)
{
    const unsigned m = 112 + 16 * n;
    const uint8_t bytes[] = { 0x44,
                              0x0f,
                              opcode,
                              (uint8_t)((m < 128 ? 0x44 : 0x84) | (n & 7) << 3),
                              0x24,
                              (uint8_t)m,
                              (uint8_t)(m >> 8),
                              0,
                              0 };

    const unsigned no_prefix = n < 8;

    return put(to, bytes + no_prefix, (m < 128 ? 6u : 9u) - no_prefix);
}

static void put_preempt(void)
{
    static const uint8_t head[] = { 0x55, 0x48, 0x89, 0xe5, 0x9c, 0x48, 0x81, 0xec, 0x70, 1, 0, 0 };
    static const uint8_t call[] = { 0xe8, 1, 2, 3, 4 };
    static const uint8_t tail[] = { 0x48, 0x81, 0xc4, 0x70, 1, 0, 0, 0x9d, 0x5d, 0xc3 };

    memset(code, 0xcc, sizeof code);
    at.save = put(START, head, sizeof head);
    at.call = at.save;
    for (unsigned n = 0; n < REGISTERS; n++)
        at.call = put_mov(at.call, n, 0x89);
    for (unsigned n = 0; n < VECTORS; n++)
        at.call = put_movups(at.call, n, 0x11);
    at.restore = put(at.call, call, sizeof call);
    at.give_space = at.restore;
    for (unsigned n = VECTORS; n-- > 0;)
        at.give_space = put_movups(at.give_space, n, 0x10);
    for (unsigned n = REGISTERS; n-- > 0;)
        at.give_space = put_mov(at.give_space, n, 0x8b);
    at.ret = put(at.give_space, tail, sizeof tail) - 1;
}

static bool is_found(unsigned offset, enum sfb_frame_kind kind)
{
    struct sfb_go_preempt p;

    return sfb_arch_find_preempt(&code_memory, BASE + offset, kind, &p);
}

static void expect_rule(unsigned offset, enum sfb_frame_kind kind, enum sfb_base base, int32_t cfa,
                        bool fp_stored, const char *what)
{
    struct sfb_go_preempt p;

    cr_assert(sfb_arch_find_preempt(&code_memory, BASE + offset, kind, &p), "%s", what);
    cr_expect(eq(int, p.rule.cfa_base, base), "%s", what);
    cr_expect(eq(i32, p.rule.cfa_offset, cfa), "%s", what);
    cr_expect(eq(int, p.rule.ra.where, SFB_WHERE_CFA), "%s", what);
    cr_expect(eq(int, p.rule.ra.offset, -8), "%s", what);
    cr_expect(eq(int, p.rule.fp.where, fp_stored ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED), "%s", what);
    cr_expect(eq(int, p.rule.fp.offset, fp_stored ? -16 : 0), "%s", what);
}

Test(arch_go, knows_the_frame_of_async_preempt_at_each_of_its_parts)
{
    put_preempt();
    expect_rule(START, SFB_FRAME_PC, SFB_BASE_SP, 8, false, "push %rbp");
    expect_rule(START + 1, SFB_FRAME_PC, SFB_BASE_SP, 16, true, "mov %rsp, %rbp");
    expect_rule(START + 4, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "pushf");
    expect_rule(START + 5, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "sub");
    expect_rule(at.save, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "the first that saves");
    expect_rule(at.call, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "call");
    expect_rule(at.restore, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "behind the call, interrupted");
    expect_rule(at.restore, SFB_FRAME_RA, SFB_BASE_FP, 16, true, "behind the call");
    expect_rule(at.give_space, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "add");
    expect_rule(at.ret - 2, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "popf");
    expect_rule(at.ret - 1, SFB_FRAME_PC, SFB_BASE_FP, 16, true, "pop %rbp");
    expect_rule(at.ret, SFB_FRAME_PC, SFB_BASE_SP, 8, false, "ret");
    cr_expect(not(is_found(START, SFB_FRAME_RA)), "nothing returns there");
    cr_expect(not(is_found(START + 2, SFB_FRAME_PC)), "within an instruction");
    cr_expect(not(is_found(at.ret + 1, SFB_FRAME_PC)), "behind it");
    cr_expect(not(is_found(sizeof code + 8, SFB_FRAME_PC)), "unreadable");
}

Test(arch_go, takes_nothing_else_for_async_preempt)
{
    static const struct {
        const char *name;
        unsigned *part;
        int offset;
        uint8_t byte;
    } cases[] = {
        { "no mov behind push %rbp", NULL, START + 3, 0xec },
        { "flags are not saved", NULL, START + 4, 0x90 },
        { "a register is loaded first", &at.save, 1, 0x8b },
        { "a register is stored by r13", &at.save, 3, 0x25 },
        { "a register is moved to one", &at.save, 2, 0xc4 },
        { "a jump in place of the call", &at.call, 0, 0xe9 },
        { "a register is not restored", &at.restore, 2, 0x11 },
        { "lea in place of add", &at.give_space, 1, 0x8d },
        { "flags are not restored", &at.ret, -2, 0x90 },
        { "rbx in place of rbp", &at.ret, -1, 0x5b },
        { "a jump in place of ret", &at.ret, 0, 0xe9 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_preempt();
        code[(int)(cases[i].part ? *cases[i].part : 0) + cases[i].offset] = cases[i].byte;
        cr_expect(not(is_found(at.restore, SFB_FRAME_RA)), "%s", cases[i].name);
        cr_expect(not(is_found(at.save + 4, SFB_FRAME_PC)), "%s", cases[i].name);
    }
    /* One register less: what returns to it may be behind a call. */
    put_preempt();
    memmove(code + at.save, code + at.save + 4, sizeof code - at.save - 4);
    cr_expect(not(is_found(at.restore - 4, SFB_FRAME_RA)));
    /* Not where Go puts functions. */
    put_preempt();
    memmove(code + START + 1, code + START, sizeof code - START - 1);
    cr_expect(not(is_found(at.restore + 1, SFB_FRAME_RA)));
}
