/*
 * What x86-64's instructions say of code that no table covers: calls, as gas assembles them, and
 * where in its prologue an interrupted function is.
 */
#include <string.h>

#include "support/test.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/go.h"
#include "unwind/machine/insn_patterns.h"

#define BASE 0x400000u

static uint8_t code[64];
static uint64_t stack[4];

static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address < BASE || address - BASE > sizeof code - 8)
        return false;
    memcpy(out, code + (address - BASE), 8);
    return true;
}

static bool read_stack(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address / 8 >= 4)
        return false;
    *out = stack[address / 8];
    return true;
}

static struct sfb_memory code_memory = { .read = read_fake };
static struct sfb_memory stack_memory = { .read = read_stack };

enum { RA_AT = 24 };

static void put_before_ra(const uint8_t *bytes, size_t size)
{
    memset(code, 0x90, sizeof code);
    memcpy(code + RA_AT - size, bytes, size);
}

Test(arch_x86_64, knows_every_call_instruction)
{
    static const struct {
        const char *name;
        uint8_t size;
        uint8_t bytes[8];
        bool call;
    } cases[] = {
        { "call rel32", 5, { 0xe8, 1, 2, 3, 4 }, true },
        { "call *%rax", 2, { 0xff, 0xd0 }, true },
        { "call *%r12", 3, { 0x41, 0xff, 0xd4 }, true },
        { "call *(%rdx)", 2, { 0xff, 0x12 }, true },
        { "call *8(%rax)", 3, { 0xff, 0x50, 8 }, true },
        { "call *(%rsp)", 3, { 0xff, 0x14, 0x24 }, true },
        { "call *16(%rsp)", 4, { 0xff, 0x54, 0x24, 16 }, true },
        { "call *(%rip + n)", 6, { 0xff, 0x15, 1, 2, 3, 4 }, true },
        { "call *0x200(%rbx)", 6, { 0xff, 0x93, 0, 2, 0, 0 }, true },
        { "call *table(,%rax,8)", 7, { 0xff, 0x14, 0xc5, 1, 2, 3, 4 }, true },
        { "call *0x200(%rax,%rcx,8)", 7, { 0xff, 0x94, 0xc8, 0, 2, 0, 0 }, true },
        { "jmp *%rax", 2, { 0xff, 0xe0 }, false },
        { "call *(%rsp), cut off", 2, { 0xff, 0x14 }, false },
        { "push *(%rdx)", 2, { 0xff, 0x32 }, false },
        { "jmp rel32", 5, { 0xe9, 1, 2, 3, 4 }, false },
        { "nothing", 1, { 0x90 }, false },
        { "call *%rax, one byte further", 3, { 0xff, 0xd0, 0x90 }, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_before_ra(cases[i].bytes, cases[i].size);
        cr_expect(eq(int, sfb_arch_is_call(&code_memory, BASE + RA_AT), cases[i].call), "%s",
                  cases[i].name);
    }
    cr_expect(not(sfb_arch_is_call(&code_memory, BASE)), "nothing is before it");
    memcpy(code, cases[1].bytes, cases[1].size);
    cr_expect(sfb_arch_is_call(&code_memory, BASE + 2), "at the very start of what is there");
}

Test(arch_x86_64, knows_every_no_op_that_assemblers_pad_with)
{
    static const struct {
        const char *name;
        uint8_t size;
        uint8_t bytes[16];
        uint8_t want;
    } cases[] = {
        { "nop", 1, { 0x90 }, 1 },
        { "xchg %ax, %ax", 2, { 0x66, 0x90 }, 2 },
        { "data16 xchg %ax, %ax", 3, { 0x66, 0x66, 0x90 }, 3 },
        { "nopl (%rax)", 3, { 0x0f, 0x1f, 0x00 }, 3 },
        { "nopl 0(%rax)", 4, { 0x0f, 0x1f, 0x40 }, 4 },
        { "nopl 0(%rax,%rax)", 5, { 0x0f, 0x1f, 0x44 }, 5 },
        { "nopw 0(%rax,%rax)", 6, { 0x66, 0x0f, 0x1f, 0x44 }, 6 },
        { "nopl 0l(%rax)", 7, { 0x0f, 0x1f, 0x80 }, 7 },
        { "nopl 0l(%rax,%rax)", 8, { 0x0f, 0x1f, 0x84 }, 8 },
        { "nopw 0l(%rax,%rax)", 9, { 0x66, 0x0f, 0x1f, 0x84 }, 9 },
        { "cs nopw", 10, { 0x66, 0x2e, 0x0f, 0x1f, 0x84 }, 10 },
        { "data16 cs nopw", 11, { 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84 }, 11 },
        { "the longest", 15, { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84 }, 15 },
        { "longer than any instruction",
          16,
          { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84 },
          0 },
        { "prefixes alone",
          16,
          { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
            0x66, 0x90 },
          0 },
        { "pause", 2, { 0xf3, 0x90 }, 0 },
        { "xchg %r8, %rax", 2, { 0x41, 0x90 }, 0 },
        { "endbr64", 4, { 0xf3, 0x0f, 0x1e, 0xfa }, 0 },
        { "nop of a register", 3, { 0x0f, 0x1f, 0xc0 }, 0 },
        { "nop of /1", 3, { 0x0f, 0x1f, 0x08 }, 0 },
        { "nop of what lies at rip", 7, { 0x0f, 0x1f, 0x05 }, 0 },
        { "syscall", 2, { 0x0f, 0x05 }, 0 },
        { "int3", 1, { 0xcc }, 0 },
        { "ret", 1, { 0xc3 }, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t offset = 0; offset < 16; offset++) {
            memset(code, 0xcc, sizeof code);
            memcpy(code + offset, cases[i].bytes, cases[i].size);
            cr_expect(eq(u64, sfb_arch_nop_size(&code_memory, BASE + offset), cases[i].want), "%s",
                      cases[i].name);
        }
    cr_expect(eq(u64, sfb_arch_nop_size(&code_memory, BASE + sizeof code), 0), "nothing is there");
}

Test(arch_x86_64, reads_no_further_than_to_tell_a_no_op)
{
    static const struct {
        uint8_t size;
        uint8_t bytes[4];
        uint8_t want;
    } cases[] = {
        { 1, { 0x90 }, 1 }, { 2, { 0x66, 0x90 }, 2 }, { 1, { 0x66 }, 0 },
        { 1, { 0x0f }, 0 }, { 2, { 0x0f, 0x1f }, 0 }, { 3, { 0x0f, 0x1f, 0x84 }, 8 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t at = sizeof code - cases[i].size; /* the last bytes that can be read */

        memset(code, 0xcc, sizeof code);
        memcpy(code + at, cases[i].bytes, cases[i].size);
        cr_expect(eq(u64, sfb_arch_nop_size(&code_memory, BASE + at), cases[i].want), "%zu", i);
    }
}

static struct sfb_rule rule;
static bool in_module;

static enum sfb_guess guess(unsigned at, enum sfb_frame_kind kind)
{
    struct sfb_regs regs = { .pc = BASE + at, .sp = 0, .fp = 8 };

    return sfb_arch_guess(&code_memory, &stack_memory, &regs, kind, in_module, &rule);
}

/* @param offset  of the CFA */
static void expect_guess(unsigned at, enum sfb_frame_kind kind, enum sfb_guess want,
                         enum sfb_base base, int offset, const char *what)
{
    cr_expect(eq(int, guess(at, kind), want), "%s", what);
    cr_expect(eq(int, rule.cfa_base, base), "%s", what);
    cr_expect(eq(int, rule.cfa_offset, offset), "%s", what);
    cr_expect(eq(int, rule.fp.where, offset == 16 ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED), "%s", what);
}

Test(arch_x86_64, guesses_by_the_place_in_the_function)
{
    /* push %rbp; mov %rsp, %rbp, in two encodings; nop; leave; ret; rep ret; ret $8 */
    static const uint8_t function[] = { 0x55, 0x48, 0x89, 0xe5, 0x90, 0xc9, 0xc3 };
    static const uint8_t other[] = { 0x55, 0x48, 0x8b, 0xec, 0xf3, 0xc3, 0xc2, 8, 0 };

    memset(code, 0x90, sizeof code);
    memcpy(code + 8, function, sizeof function);
    memcpy(code + 24, other, sizeof other);
    expect_guess(8, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "nothing pushed");
    expect_guess(9, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 16, "pushed");
    expect_guess(25, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 16, "pushed, HotSpot's code");
    expect_guess(12, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, "frame made");
    expect_guess(14, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "frame gone");
    expect_guess(28, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "rep ret");
    expect_guess(30, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "ret $8");
    expect_guess(8, SFB_FRAME_RA, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, "a caller has a frame");
    expect_guess(14, SFB_FRAME_RA, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "but where it returns next");
}

/* At each byte that begins an instruction, the rule of an interrupted pc; none: offset 0. */
Test(arch_x86_64, knows_the_frame_of_swift_until_rbp_is_set_and_when_it_is_restored)
{
    /* push %rbp; push %r14; lea 8(%rsp), %rbp; sub $8, %rsp; add $16, %rsp; pop %rbp; btr $60, %rbp; jmp */
    static const uint8_t function[] = { 0x55, 0x41, 0x56, 0x48, 0x8d, 0x6c, 0x24, 0x08, 0x48,
                                        0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0x48,
                                        0x0f, 0xba, 0xf5, 0x3c, 0xe9, 0x00, 0x00, 0x00, 0x00 };
    static const struct {
        unsigned at;
        enum sfb_base base;
        int offset;
    } cases[] = { { 0, SFB_BASE_SP, 0 },  { 1, SFB_BASE_SP, 16 }, { 3, SFB_BASE_SP, 24 },
                  { 8, SFB_BASE_FP, 16 }, { 12, SFB_BASE_SP, 0 }, { 16, SFB_BASE_SP, 0 },
                  { 17, SFB_BASE_SP, 8 }, { 22, SFB_BASE_SP, 8 } };

    memset(code, 0x90, sizeof code);
    memcpy(code + 16, function, sizeof function);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t pc = BASE + 16 + cases[i].at;
        const bool known = cases[i].offset != 0;

        cr_expect(eq(int, sfb_arch_known_rule(&code_memory, pc, SFB_FRAME_RA, &rule),
                     SFB_NO_CODE_PATTERN));
        cr_expect(eq(int, sfb_arch_known_rule(&code_memory, pc, SFB_FRAME_PC, &rule),
                     known ? SFB_OK : SFB_NO_CODE_PATTERN),
                  "%u", cases[i].at);
        if (!known)
            continue;
        cr_expect(eq(int, rule.cfa_base, cases[i].base), "%u", cases[i].at);
        cr_expect(eq(int, rule.cfa_offset, cases[i].offset), "%u", cases[i].at);
        cr_expect(eq(int, rule.ra.offset, -8));
        cr_expect(eq(int, rule.fp.where, cases[i].offset == 8 ? SFB_WHERE_UNSAVED : SFB_WHERE_CFA));
        /* One byte of it is another. */
        for (unsigned k = 0; k < 8; k++) {
            const unsigned byte = 16 + (cases[i].at < 17 ? k : 17 + k % 5);

            code[byte] ^= 1;
            cr_expect(eq(int, sfb_arch_known_rule(&code_memory, pc, SFB_FRAME_PC, &rule),
                         SFB_NO_CODE_PATTERN),
                      "%u without byte %u", cases[i].at, byte);
            code[byte] ^= 1;
        }
    }
    /* The end of the code, and its start. */
    memcpy(code + sizeof code - 13, function + 17, 5);
    cr_expect(eq(int,
                 sfb_arch_known_rule(&code_memory, BASE + sizeof code - 8, SFB_FRAME_PC, &rule),
                 SFB_OK));
    cr_expect(
        eq(int, sfb_arch_known_rule(&code_memory, BASE, SFB_FRAME_PC, &rule), SFB_NO_CODE_PATTERN));
}

Test(arch_x86_64, sees_that_a_return_address_is_at_sp)
{
    static const uint8_t call[] = { 0xe8, 0x10, 0, 0, 0 }; /* of what is 16 bytes behind it */

    memset(code, 0x90, sizeof code);
    put_before_ra(call, sizeof call);
    stack[0] = BASE + RA_AT;
    expect_guess(RA_AT + 16, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "it calls the pc");
    expect_guess(RA_AT + 20, SFB_FRAME_PC, SFB_GUESS_AT_SP, SFB_BASE_SP, 8, "it may be an old one");
    expect_guess(RA_AT + 12, SFB_FRAME_PC, SFB_GUESS_AT_SP, SFB_BASE_SP, 8, "of another function");
    in_module = true; /* where functions are small */
    expect_guess(RA_AT + 20, SFB_FRAME_PC, SFB_GUESS_AT_SP, SFB_BASE_SP, 8, "called straight");
    expect_guess(RA_AT + 12, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, "before it");
    in_module = false;
    stack[0] = BASE + RA_AT + 1;
    expect_guess(RA_AT + 20, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, "behind no call");
}

/* As Go's compiler writes them, with n of one byte, of four, and 128. */
Test(arch_x86_64, knows_the_frame_of_go_until_rbp_is_set_and_when_it_is_restored)
{
    static const struct {
        const char *name;
        uint8_t start[20], end[8]; /* sub, mov, lea; add, ret */
        uint8_t mov, lea;          /* offsets */
        int n;
    } cases[] = {
        { "a byte",
          { 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10 },
          { 0x48, 0x83, 0xc4, 0x18, 0xc3 },
          4,
          9,
          0x18 },
        { "128",
          { 0x48, 0x83, 0xc4, 0x80, 0x48, 0x89, 0x6c, 0x24, 0x78, 0x48, 0x8d, 0x6c, 0x24, 0x78 },
          { 0x48, 0x83, 0xec, 0x80, 0xc3 },
          4,
          9,
          128 },
        { "four bytes",
          { 0x48, 0x81, 0xec, 0x48, 2, 0,    0,    0x48, 0x89, 0xac,
            0x24, 0x40, 2,    0,    0, 0x48, 0x8d, 0xac, 0x24, 0x40 },
          { 0x48, 0x81, 0xc4, 0x48, 2, 0, 0, 0xc3 },
          7,
          15,
          0x248 },
    };
    enum { AT = 8, END_AT = 40 };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = cases[i].name;
        const unsigned lea = AT + cases[i].lea;

        memset(code, 0x90, sizeof code);
        memcpy(code + AT, cases[i].start, sizeof cases[i].start);
        if (cases[i].n == 0x248)
            memcpy(code + AT + sizeof cases[i].start, "\x02\0\0", 3);
        memcpy(code + END_AT, cases[i].end, sizeof cases[i].end);
        expect_guess(AT, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, name);
        expect_guess(AT + cases[i].mov, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP,
                     cases[i].n + 8, name);
        expect_guess(lea, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, cases[i].n + 8, name);
        expect_guess(END_AT, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, cases[i].n + 8, name);
        expect_guess(END_AT, SFB_FRAME_RA, SFB_GUESS_BY_CODE, SFB_BASE_SP, cases[i].n + 8, name);
        code[lea + 1] = 0x8b; /* mov m(%rsp), %rbp: before it rbp is the function's own */
        expect_guess(lea, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, name);
        code[lea + 1] = 0x8d;
        code[AT + cases[i].mov + 4] ^= 8; /* another place than that below the return address */
        expect_guess(AT, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, name);
        expect_guess(AT + cases[i].mov, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, name);
        expect_guess(lea, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, name);
        code[END_AT + (cases[i].end[4] == 0xc3 ? 4 : 7)] = 0x90;
        expect_guess(END_AT, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, name);
    }
}

Test(arch_x86_64, knows_where_go_compares_sp_that_nothing_is_pushed)
{
    static const struct {
        uint8_t bytes[12];
        uint8_t branch;
    } cases[] = {
        { { 0x49, 0x3b, 0x66, 0x10, 0x76, 0x20 }, 4 },
        { { 0x4d, 0x3b, 0x66, 0x10, 0x0f, 0x86, 0, 2, 0, 0 }, 4 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(code, 0x90, sizeof code);
        memcpy(code + 8, cases[i].bytes, sizeof cases[i].bytes);
        expect_guess(8, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "cmp");
        expect_guess(12, SFB_FRAME_PC, SFB_GUESS_BY_CODE, SFB_BASE_SP, 8, "jbe");
        code[11] = 0x18; /* of another member */
        expect_guess(8, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, "another cmp");
        expect_guess(12, SFB_FRAME_PC, SFB_GUESS_BY_RECORD, SFB_BASE_FP, 16, "another jbe");
    }
}

/* Two functions of Go. Returns to one are judged by what comes before them, and by what comes behind. */
Test(arch_x86_64, knows_by_code_where_a_record_is)
{
    static const uint8_t prologue[] = { 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c,
                                        0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10 };
    static const uint8_t epilogue[] = {
        0x48, 0x8b, 0x6c, 0x24, 0x10, 0x48, 0x83, 0xc4, 0x18, 0xc3
    };
    enum { M = 0x10, EPILOGUE_AT = 24, BEHIND = EPILOGUE_AT + sizeof epilogue, OTHER = 44 };
    static const struct {
        const char *name;
        enum sfb_frame_kind kind;
        uint8_t at, offset;
        uint16_t padding; /* two bytes there; 0: none */
        bool want;
    } cases[] = {
        { "between the two", SFB_FRAME_RA, 18, M, 0, true },
        { "another offset", SFB_FRAME_RA, 18, M + 8, 0, false },
        { "padding before it", SFB_FRAME_RA, 20, M, 16, true },
        { "padding before it and behind it", SFB_FRAME_RA, 18, M, 19, true },
        { "behind the last ret", SFB_FRAME_RA, 38, M, 0, true },
        { "behind padding", SFB_FRAME_RA, 40, M, BEHIND, false },
        { "in the prologue", SFB_FRAME_RA, 9, M, 0, false },
        { "interrupted", SFB_FRAME_PC, 18, M, 0, true },
        { "interrupted, another offset", SFB_FRAME_PC, 18, M + 8, 0, false },
        { "interrupted, padding behind it", SFB_FRAME_PC, 18, M, 20, false },
        { "interrupted before the other", SFB_FRAME_PC, 38, M, 0, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(code, 0x90, sizeof code);
        memcpy(code, prologue, sizeof prologue);
        memcpy(code + EPILOGUE_AT, epilogue, sizeof epilogue);
        memcpy(code + OTHER, prologue, sizeof prologue);
        if (cases[i].padding)
            memset(code + cases[i].padding, 0xcc, 2);
        cr_expect(eq(int,
                     sfb_arch_stores_record(&code_memory, BASE + cases[i].at, cases[i].kind,
                                            cases[i].offset),
                     cases[i].want),
                  "%s", cases[i].name);
    }
    cr_expect(not(sfb_arch_stores_record(&code_memory, BASE + 4096, SFB_FRAME_RA, M)),
              "unreadable");
}

Test(arch_x86_64, knows_where_a_goroutine_ends)
{
    static const uint8_t goexit[] = { 0x90, 0xe8, 1, 2, 3, 4, 0x90 };

    memset(code, 0xcc, sizeof code);
    memcpy(code + 16, goexit, sizeof goexit);
    memcpy(code + 40, goexit, sizeof goexit);
    cr_expect(sfb_arch_is_goroutine_end(&code_memory, BASE + 17));
    cr_expect(not(sfb_arch_is_goroutine_end(&code_memory, BASE + 16)));
    cr_expect(not(sfb_arch_is_goroutine_end(&code_memory, BASE + 22)), "behind the call");
    cr_expect(not(sfb_arch_is_goroutine_end(&code_memory, BASE + 41)), "no function starts there");
    cr_expect(not(sfb_arch_is_goroutine_end(&code_memory, BASE + sizeof code + 1)), "unreadable");
    for (unsigned i = 0; i < sizeof goexit; i++) {
        code[16 + i] ^= 0x08;
        cr_expect(eq(int, sfb_arch_is_goroutine_end(&code_memory, BASE + 17), i > 1 && i < 6), "%u",
                  i);
        code[16 + i] ^= 0x08;
    }
}

Test(arch_x86_64, knows_instructions_that_run_with_the_return_address_at_sp)
{
    static const uint8_t call[] = { 0xe8, 0, 0, 0, 0 };
    static const struct {
        const char *name;
        uint8_t size, at; /* of the pc */
        uint8_t bytes[12];
        bool want;
    } cases[] = {
        { "ret", 1, 0, { 0xc3 }, true },
        { "rep ret", 2, 0, { 0xf3, 0xc3 }, true },
        { "bnd ret", 2, 0, { 0xf2, 0xc3 }, true },
        { "ret $8", 3, 0, { 0xc2, 8, 0 }, true },
        { "rep nop", 2, 0, { 0xf3, 0x90 }, false },
        { "stub", 10, 0, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 2, 3, 4 }, true },
        { "its jump", 10, 4, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 1, 2, 3, 4 }, true },
        { "bnd stub", 11, 0, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4 }, true },
        { "its bnd jump", 11, 4, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4 }, true },
        { "a jump alone", 10, 4, { 0x90, 0x90, 0x90, 0x90, 0xff, 0x25, 1, 2, 3, 4 }, false },
        { "endbr64 alone", 6, 0, { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x90 }, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned start = RA_AT + 16;
        struct sfb_regs regs = { .pc = BASE + start + cases[i].at, .sp = 0 };

        memset(code, 0x90, sizeof code);
        put_before_ra(call, sizeof call);
        memcpy(code + start, cases[i].bytes, cases[i].size);
        stack[0] = BASE + RA_AT;
        cr_expect(
            eq(int, sfb_arch_returns_at_sp(&code_memory, &stack_memory, &regs), cases[i].want),
            "%s", cases[i].name);
        stack[0] = BASE + RA_AT + 1;
        cr_expect(not(sfb_arch_returns_at_sp(&code_memory, &stack_memory, &regs)),
                  "%s: the word at sp is behind no call", cases[i].name);
    }
}

/* Behind it no table has anything in static programs: IRELATIVE slots. */
Test(arch_x86_64, knows_the_stub_of_an_irelative_slot)
{
    static const uint8_t stub[] = { 0xff, 0x25, 1, 2, 3, 4, 0x66, 0x90 };

    memset(code, 0x90, sizeof code);
    memcpy(code + 8, stub, sizeof stub);
    cr_assert(sfb_arch_stub_rule(&code_memory, BASE + 8, &rule));
    cr_expect(eq(int, rule.cfa_offset, 8));
    code[15] = 0xcc;
    cr_expect(not(sfb_arch_stub_rule(&code_memory, BASE + 8, &rule)));
}

Test(arch_x86_64, finds_jumps_to_an_address)
{
    /* jmp 40; nop; ja 44; call 48; jmp *%rax, each from its end */
    static const uint8_t function[] = { 0xe9, 35, 0,    0,  0, 0x90, 0x0f, 0x87, 32,  0,
                                        0,    0,  0xe8, 31, 0, 0,    0,    0xff, 0xe0 };
    uint64_t target;

    memset(code, 0x90, sizeof code);
    memcpy(code, function, sizeof function);
    cr_expect(eq(u64,
                 sfb_arch_find_jump(&code_memory, BASE, BASE + 32, BASE + 40, BASE + 41, &target),
                 BASE));
    cr_expect(eq(u64, target, BASE + 40));
    cr_expect(eq(u64,
                 sfb_arch_find_jump(&code_memory, BASE, BASE + 32, BASE + 41, BASE + 48, &target),
                 BASE + 6));
    cr_expect(eq(u64, target, BASE + 44));
    cr_expect(
        zero(u64, sfb_arch_find_jump(&code_memory, BASE, BASE + 6, BASE + 41, BASE + 48, &target)));
    cr_expect(zero(
        u64, sfb_arch_find_jump(&code_memory, BASE, BASE + 32, BASE + 45, BASE + 49, &target)));
    /* To the end of what is there. */
    cr_expect(zero(u64, sfb_arch_find_jump(&code_memory, BASE + 12, BASE + 4096, BASE + 40,
                                           BASE + 44, &target)));
}

Test(arch_x86_64, knows_calls_of_a_function_by_name)
{
    static const uint8_t direct[] = { 0xe8, 1, 2, 3, 0 }, back[] = { 0xe8, 1, 2, 3, 0xff },
                         far[] = { 0xe8, 1, 2, 3, 1 }, indirect[] = { 0xff, 0x57, 0x38 };

    put_before_ra(direct, sizeof direct);
    cr_expect(sfb_arch_is_direct_call(&code_memory, BASE + RA_AT));
    put_before_ra(back, sizeof back);
    cr_expect(sfb_arch_is_direct_call(&code_memory, BASE + RA_AT));
    put_before_ra(far, sizeof far);
    cr_expect(not(sfb_arch_is_direct_call(&code_memory, BASE + RA_AT)));
    put_before_ra(indirect, sizeof indirect);
    cr_expect(not(sfb_arch_is_direct_call(&code_memory, BASE + RA_AT)));
    cr_expect(not(sfb_arch_is_direct_call(&code_memory, BASE)), "nothing is before it");
}
