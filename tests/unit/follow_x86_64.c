/* Lengths of instructions of x86-64, and where a function returns to by its code from the pc on. */
#include <string.h>

#include "support/test.h"
#include "unwind/machine/insn_decode_x86_64.h"
#include "unwind/machine/insn_patterns.h"

Test(follow_x86_64, knows_how_long_instructions_are)
{
    static const struct {
        const char *name;
        uint8_t bytes[15];
        uint8_t size;
    } cases[] = {
        { "push %r12", { 0x41, 0x54 }, 2 },
        { "add $8, %rsp", { 0x48, 0x83, 0xc4, 8 }, 4 },
        { "mov 16(%rsp), %rax", { 0x48, 0x8b, 0x44, 0x24, 16 }, 5 },
        { "mov slot(%rip), %rax", { 0x48, 0x8b, 0x05, 1, 2, 3, 4 }, 7 },
        { "mov (,%rax,8), %rax", { 0x48, 0x8b, 0x04, 0xc5, 1, 2, 3, 4 }, 8 },
        { "movabs", { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 10 },
        { "mov $2, %ax", { 0x66, 0xb8, 2, 0 }, 4 },
        { "test $1, %eax", { 0xf7, 0xc0, 1, 0, 0, 0 }, 6 },
        { "neg %eax", { 0xf7, 0xd8 }, 2 },
        { "enter", { 0xc8, 1, 0, 2 }, 4 },
        { "jne", { 0x0f, 0x85, 1, 2, 3, 4 }, 6 },
        { "pshufd $4", { 0x66, 0x0f, 0x70, 0xc1, 4 }, 5 },
        { "pshufb", { 0x66, 0x0f, 0x38, 0x00, 0xc1 }, 5 },
        { "palignr $4", { 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 4 }, 6 },
        { "vzeroupper", { 0xc5, 0xf8, 0x77 }, 3 },
        { "vpshufd $4", { 0xc5, 0xf9, 0x70, 0xc1, 4 }, 5 },
        { "vperm2i128 $1", { 0xc4, 0xe3, 0x75, 0x46, 0xc2, 1 }, 6 },
        { "mulx", { 0xc4, 0xe2, 0xfb, 0xf6, 0xc8 }, 5 },
        { "vmovdqu64 64(%rsi)", { 0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x46, 1 }, 7 },
        { "vpternlogd $3", { 0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 3 }, 7 },
        { "nopw", { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, 10 },
        { "push %es, of 32 bits", { 0x06 }, 0 },
        { "XOP", { 0x8f, 0xe8, 0xf8, 0xa3, 0x6a, 0x60, 0x10 }, 0 },
    };
    struct sfb_insn insn;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool known = sfb_insn_decode(&insn, cases[i].bytes, sizeof cases[i].bytes);

        cr_expect(eq(int, known ? insn.length : 0, cases[i].size), "%s", cases[i].name);
        for (unsigned n = 0; n < cases[i].size; n++)
            cr_expect(not(sfb_insn_decode(&insn, cases[i].bytes, n)), "%s: %u", cases[i].name, n);
    }
}

/* What says so of all that compilers make was compared with capstone, 21 million instructions. */
Test(follow_x86_64, knows_what_has_nothing_to_do_with_the_frame)
{
    static const struct {
        const char *name;
        uint8_t bytes[15];
        bool only_computes;
    } cases[] = {
        { "mov %rdx, %rax", { 0x48, 0x89, 0xd0 }, true },
        { "mov %rbp, %rax", { 0x48, 0x89, 0xe8 }, true },
        { "mov %rax, (%rbp)", { 0x48, 0x89, 0x45, 0 }, true },
        { "mov %rax, (%rsp)", { 0x48, 0x89, 0x04, 0x24 }, true },
        { "mov $1, %eax", { 0xb8, 1, 0, 0, 0 }, true },
        { "cmp %rbp, %rax", { 0x48, 0x39, 0xe8 }, true },
        { "vzeroupper", { 0xc5, 0xf8, 0x77 }, true },
        { "movq %rax, %xmm5", { 0x66, 0x48, 0x0f, 0x6e, 0xe8 }, true },
        { "cvttsd2si %xmm0, %eax", { 0xf2, 0x0f, 0x2c, 0xc0 }, true },
        { "inc %eax", { 0xff, 0xc0 }, true },
        { "mov %rax, %rbp", { 0x48, 0x89, 0xc5 }, false },
        { "mov (%rax), %rsp", { 0x48, 0x8b, 0x20 }, false },
        { "mov $1, %ebp", { 0xbd, 1, 0, 0, 0 }, false },
        { "mov $1, %bpl", { 0x40, 0xb5, 1 }, false },
        { "lea 8(%rsp), %rsp", { 0x48, 0x8d, 0x64, 0x24, 8 }, false },
        { "add $8, %rsp", { 0x48, 0x83, 0xc4, 8 }, false },
        { "sub %rax, %rsp", { 0x48, 0x29, 0xc4 }, false },
        { "cmove %rax, %rbp", { 0x48, 0x0f, 0x44, 0xe8 }, false },
        { "setne %bpl", { 0x40, 0x0f, 0x95, 0xc5 }, false },
        { "cvttsd2si %xmm0, %ebp", { 0xf2, 0x0f, 0x2c, 0xe8 }, false },
        { "vmovmskps %xmm0, %ebp", { 0xc5, 0xf8, 0x50, 0xe8 }, false },
        { "movd %xmm0, %ebp", { 0x66, 0x0f, 0x7e, 0xc5 }, false },
        { "pextrd $1, %xmm0, %ebp", { 0x66, 0x0f, 0x3a, 0x16, 0xc5, 1 }, false },
        { "andn %eax, %eax, %ebp", { 0xc4, 0xe2, 0x78, 0xf2, 0xe8 }, false },
        { "rdrand %ebp", { 0x0f, 0xc7, 0xf5 }, false },
        { "xchg %rax, %rbp", { 0x48, 0x95 }, false },
        { "bswap %ebp", { 0x0f, 0xcd }, false },
        { "push %rax", { 0x50 }, false },
        { "pop %rax", { 0x58 }, false },
        { "push (%rax)", { 0xff, 0x30 }, false },
        { "leave", { 0xc9 }, false },
        { "ret", { 0xc3 }, false },
        { "jmp", { 0xeb, 1 }, false },
        { "je", { 0x0f, 0x84, 1, 0, 0, 0 }, false },
        { "jmp *%rax", { 0xff, 0xe0 }, false },
        { "call", { 0xe8, 1, 0, 0, 0 }, false },
        { "loop", { 0xe2, 1 }, false },
        { "syscall", { 0x0f, 0x05 }, false },
        { "ud2", { 0x0f, 0x0b }, false },
        { "xbegin", { 0xc7, 0xf8, 1, 0, 0, 0 }, false },
    };
    struct sfb_insn insn;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(sfb_insn_decode(&insn, cases[i].bytes, sizeof cases[i].bytes), "%s",
                  cases[i].name);
        cr_expect(eq(int, sfb_insn_only_computes(&insn), cases[i].only_computes), "%s",
                  cases[i].name);
    }
}

enum { BASE = 0x400000, SP = 0x10000, WORDS = 16 };

static uint8_t code[64];
static uint64_t words[WORDS];

static bool read_code(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address < BASE || address - BASE > sizeof code - 8)
        return false;
    memcpy(out, code + (address - BASE), 8);
    return true;
}

static bool read_words(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address < SP || address - SP >= sizeof words)
        return false;
    *out = words[(address - SP) / 8];
    return true;
}

enum { NONE = -1, NO_FP = -1 };

Test(follow_x86_64, finds_the_return_address_of_a_function)
{
    static const struct {
        const char *name;
        uint8_t bytes[32];
        int32_t cfa, fp; /* from sp */
    } cases[] = {
        { "ret", { 0xc3 }, 8, NO_FP },
        { "pop; pop; ret", { 0x41, 0x5c, 0x5b, 0xc3 }, 24, NO_FP },
        { "add; pop %rbp; ret", { 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3 }, 32, 16 },
        { "push; pop; ret", { 0x53, 0x5b, 0xc3 }, 8, NO_FP },
        { "push %rbp; pop %rbp; ret", { 0x55, 0x5d, 0xc3 }, 8, NO_FP },
        { "push %rbp; mov; leave; ret", { 0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3 }, 8, NO_FP },
        { "leave; ret", { 0xc9, 0xc3 }, 48, 32 }, /* fp is sp + 32 */
        { "mov $1, %ebp; leave", { 0xbd, 1, 0, 0, 0, 0xc9, 0xc3 }, NONE, 0 },
        { "lea 8(%rbp), %rsp; ret", { 0x48, 0x8d, 0x65, 8, 0xc3 }, 48, NO_FP },
        { "mov 8(%rsp), %rsp; ret", { 0x48, 0x8b, 0x64, 0x24, 8, 0xc3 }, 72, NO_FP },
        { "mov %rax, 8(%rsp) before it",
          { 0x48, 0x89, 0x44, 0x24, 8, 0x48, 0x8b, 0x64, 0x24, 8, 0xc3 },
          NONE,
          0 },
        { "mov 16(%rsp), %rbp; add; ret",
          { 0x48, 0x8b, 0x6c, 0x24, 16, 0x48, 0x83, 0xc4, 24, 0xc3 },
          32,
          16 },
        { "and $-64, %rsp; leave", { 0x48, 0x83, 0xe4, 0xc0, 0xc9, 0xc3 }, 48, 32 },
        { "mov %rsi, %rsp; ret: another stack", { 0x48, 0x89, 0xf4, 0xc3 }, NONE, 0 },
        { "xchg %rax, %rsp; ret", { 0x48, 0x94, 0xc3 }, NONE, 0 },
        { "push %rax; ret: a jump", { 0x50, 0xc3 }, NONE, 0 },
        { "mov %rax, (%rsp); ret: a jump", { 0x48, 0x89, 0x04, 0x24, 0xc3 }, NONE, 0 },
        { "pop %rax; push %rdx; ret", { 0x58, 0x52, 0xc3 }, NONE, 0 },
        { "pop %rax; jmp *%rax", { 0x58, 0xff, 0xe0 }, NONE, 0 },
        { "call *%rax; ret", { 0xff, 0xd0, 0xc3 }, NONE, 0 },
        { "ud2", { 0x0f, 0x0b, 0xc3 }, NONE, 0 },
        { "jmp over hlt", { 0xeb, 1, 0xf4, 0x5b, 0xc3 }, 16, NO_FP },
        { "je to what returns", { 0x74, 1, 0xf4, 0x5b, 0xc3 }, 16, NO_FP },
        { "je past what returns", { 0x74, 2, 0x5b, 0xc3, 0xf4 }, 16, NO_FP },
        { "jne back, for ever", { 0xeb, 0xfe }, NONE, 0 },
        { "call of what returns", { 0xe8, 2, 0, 0, 0, 0x5b, 0xc3, 0x53, 0x5b, 0xc3 }, 16, NO_FP },
        { "call of what does not", { 0xe8, 2, 0, 0, 0, 0x5b, 0xc3, 0x0f, 0x0b }, NONE, 0 },
        { "call of what returns elsewhere", { 0xe8, 2, 0, 0, 0, 0x5b, 0xc3, 0x50, 0xc3 }, NONE, 0 },
    };
    struct sfb_memory code_memory = { .read = read_code }, stack = { .read = read_words };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_regs regs = { .pc = BASE + 1, .sp = SP, .fp = SP + 32 };
        struct sfb_rule rule;
        bool found;

        memset(code, 0xf4, sizeof code);
        memcpy(code + 1, cases[i].bytes, sizeof cases[i].bytes);
        for (size_t k = sizeof cases[i].bytes; k > 0 && cases[i].bytes[k - 1] == 0; k--)
            code[k] = 0xf4;
        words[1] = SP + 64;
        found = sfb_arch_follow_to_return(&code_memory, &stack, &regs, false, 256, &rule);
        cr_expect(eq(int, found ? rule.cfa_offset : NONE, cases[i].cfa), "%s", cases[i].name);
        if (found && cases[i].cfa != NONE)
            cr_expect(eq(int,
                         rule.fp.where == SFB_WHERE_CFA ? rule.cfa_offset + rule.fp.offset : NO_FP,
                         cases[i].fp),
                      "%s", cases[i].name);
    }
}

Test(follow_x86_64, ends_with_its_budget_and_with_the_code)
{
    struct sfb_memory code_memory = { .read = read_code }, stack = { .read = read_words };
    struct sfb_regs regs = { .pc = BASE, .sp = SP };
    struct sfb_rule rule;

    memset(code, 0x90, sizeof code);
    cr_expect(not(sfb_arch_follow_to_return(&code_memory, &stack, &regs, false, 1000, &rule)));
    code[9] = 0xc3;
    cr_expect(not(sfb_arch_follow_to_return(&code_memory, &stack, &regs, false, 9, &rule)));
    cr_expect(sfb_arch_follow_to_return(&code_memory, &stack, &regs, false, 10, &rule));
}

Test(follow_x86_64, passes_by_calls_if_it_may)
{
    static const uint8_t bytes[] = { 0xff, 0xd0, 0xe8, 1, 2, 3, 4, 0x5b, 0xc3 };
    struct sfb_memory code_memory = { .read = read_code }, stack = { .read = read_words };
    struct sfb_regs regs = { .pc = BASE, .sp = SP };
    struct sfb_rule rule;

    memset(code, 0xf4, sizeof code);
    memcpy(code, bytes, sizeof bytes);
    cr_expect(not(sfb_arch_follow_to_return(&code_memory, &stack, &regs, false, 256, &rule)));
    cr_assert(sfb_arch_follow_to_return(&code_memory, &stack, &regs, true, 256, &rule));
    cr_expect(eq(int, rule.cfa_offset, 16));
}
