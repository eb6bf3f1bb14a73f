/* One rule, one frame: what sfb_step() makes of it, on a stack of sixteen words. */
#include "unwind/walk/step.h"
#include "support/test.h"
#include "unwind/machine/arch.h"

#define BASE  0x7ffc0000u
#define WORDS 16u

static uint64_t stack[WORDS];

static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address < BASE || address >= BASE + sizeof stack)
        return false;
    *out = stack[(address - BASE) / 8];
    return true;
}

static struct sfb_memory fake = { .read = read_fake };

/* An address of code with bits of authentication, and of a top byte that is used for it. */
#define SIGNED 0x7f5a00000000aab0ull

#define AT(word) (BASE + 8u * (word))

/* AMD64 as SFrame has it: ra at CFA-8. */
#define SP(off)                                                                                    \
    {                                                                                              \
        .cfa_base = SFB_BASE_SP, .cfa_offset = off, .ra.where = SFB_WHERE_CFA, .ra.offset = -8     \
    }
#define SP_FP(off, at)                                                                             \
    {                                                                                              \
        .cfa_base = SFB_BASE_SP, .cfa_offset = off, .ra.where = SFB_WHERE_CFA, .ra.offset = -8,    \
        .fp.where = SFB_WHERE_CFA, .fp.offset = at                                                 \
    }
#define FP_FP(off, at)                                                                             \
    {                                                                                              \
        .cfa_base = SFB_BASE_FP, .cfa_offset = off, .ra.where = SFB_WHERE_CFA, .ra.offset = -8,    \
        .fp.where = SFB_WHERE_CFA, .fp.offset = at                                                 \
    }
#define LR(off)                                                                                    \
    {                                                                                              \
        .cfa_base = SFB_BASE_SP, .cfa_offset = off, .ra.where = SFB_WHERE_UNSAVED                  \
    }

static const struct {
    const char *name;
    struct sfb_rule rule;
    struct sfb_regs in;
    enum sfb_status want;
    struct sfb_regs out;
} cases[] = {
    { "leaf",
      SP(8),
      { 1, AT(0), 7, 0, false, false },
      SFB_OK,
      { 0xaaa0, AT(1), 7, 0, false, false } },
    { "pushed fp",
      SP_FP(24, -16),
      { 1, AT(0), 7, 0, false, false },
      SFB_OK,
      { 0xaaa2, AT(3), 0xaaa1, 0, false, false } },
    { "fp frame",
      FP_FP(16, -16),
      { 1, AT(0), AT(4), 0, false, false },
      SFB_OK,
      { 0xaaa5, AT(6), 0xaaa4, 0, false, false } },
    { "slot below sp, after leave",
      SP_FP(8, -16),
      { 1, AT(5), 7, 0, false, false },
      SFB_OK,
      { 0xaaa5, AT(6), 0xaaa4, 0, false, false } },
    { "last word",
      SP(8),
      { 1, AT(15), 7, 0, false, false },
      SFB_OK,
      { 0xaaaf, AT(16), 7, 0, false, false } },
    { "past the stack",
      SP(16),
      { 1, AT(15), 7, 0, false, false },
      SFB_UNREADABLE,
      { 0, 0, 0, 0, false, false } },
    { "fp slot past the stack",
      SP_FP(24, 64),
      { 1, AT(9), 7, 0, false, false },
      SFB_UNREADABLE,
      { 0, 0, 0, 0, false, false } },
    { "sp not aligned",
      SP(8),
      { 1, AT(0) + 4, 7, 0, false, false },
      SFB_MISALIGNED,
      { 0, 0, 0, 0, false, false } },
    { "fp not aligned",
      FP_FP(16, -16),
      { 1, AT(0), AT(4) + 1, 0, false, false },
      SFB_MISALIGNED,
      { 0, 0, 0, 0, false, false } },
    { "fp slot not aligned",
      SP_FP(24, -17),
      { 1, AT(0), 7, 0, false, false },
      SFB_MISALIGNED,
      { 0, 0, 0, 0, false, false } },
    { "fp below sp",
      FP_FP(16, -16),
      { 1, AT(8), AT(2), 0, false, false },
      SFB_NO_PROGRESS,
      { 0, 0, 0, 0, false, false } },
    /* OCaml's way into C: the return address is popped, and its row counts on. */
    { "sp stays",
      SP(0),
      { 1, AT(4), 7, 0, false, false },
      SFB_OK,
      { 0xaaa3, AT(4), 7, 0, false, true } },
    { "sp stays again",
      SP(0),
      { 1, AT(4), 7, 0, false, true },
      SFB_NO_PROGRESS,
      { 0, 0, 0, 0, false, false } },
    { "sp goes on after it stayed",
      SP(8),
      { 1, AT(4), 7, 0, false, true },
      SFB_OK,
      { 0xaaa4, AT(5), 7, 0, false, false } },
    { "fp of the same frame",
      FP_FP(0, -16),
      { 1, AT(8), AT(8), 0, false, false },
      SFB_NO_PROGRESS,
      { 0, 0, 0, 0, false, false } },
    { "fp is garbage that wraps",
      FP_FP(16, -16),
      { 1, AT(8), ~0ull - 7, 0, false, false },
      SFB_ARCH_DATA_MASK == UINT64_MAX ? SFB_NO_PROGRESS : SFB_UNREADABLE, /* without its tag */
      { 0, 0, 0, 0, false, false } },
    { "sp wraps",
      SP(16),
      { 1, ~0ull - 7, 7, 0, false, false },
      SFB_NO_PROGRESS,
      { 0, 0, 0, 0, false, false } },
    { "ra zero, fp zero: so does an overwritten stack look",
      SP(8),
      { 1, AT(7), 0, 0, false, false },
      SFB_ZERO_RA,
      { 0, 0, 0, 0, false, false } },
    { "ra zero, fp not",
      SP(8),
      { 1, AT(7), 7, 0, false, false },
      SFB_ZERO_RA,
      { 0, 0, 0, 0, false, false } },
    { "outermost",
      { .flags = SFB_RULE_OUTERMOST },
      { 1, AT(0), 7, 0, false, false },
      SFB_END,
      { 0, 0, 0, 0, false, false } },
    { "ra in lr, nothing pushed",
      LR(0),
      { 1, AT(0), 7, 0xbbb0, true, false },
      SFB_OK,
      { 0xbbb0, AT(0), 7, 0, false, false } },
    { "ra in lr, frame made",
      LR(32),
      { 1, AT(0), 7, 0xbbb0, true, false },
      SFB_OK,
      { 0xbbb0, AT(4), 7, 0, false, false } },
    { "lr is good for one step",
      LR(0),
      { 1, AT(0), 7, 0, false, false },
      SFB_NO_REGISTER,
      { 0, 0, 0, 0, false, false } },
    { "lr is known, and zero",
      LR(0),
      { 1, AT(0), 0, 0, true, false },
      SFB_ZERO_RA,
      { 0, 0, 0, 0, false, false } },
    /* Pointer authentication and tags: on AArch64 they go, elsewhere they are bits like others. */
    { "signed ra on the stack",
      SP_FP(96, -16),
      { 1, AT(0), 7, 0, false, false },
      SFB_OK,
      { SIGNED & SFB_ARCH_CODE_MASK, AT(12), 0xaaaa, 0, false, false } },
    { "signed ra in lr",
      LR(0),
      { 1, AT(0), 7, SIGNED, true, false },
      SFB_OK,
      { SIGNED & SFB_ARCH_CODE_MASK, AT(0), 7, 0, false, false } },
    { "signed ra of zero, fp zero",
      LR(0),
      { 1, AT(0), 0, SIGNED & ~SFB_ARCH_CODE_MASK, true, false },
      SFB_ZERO_RA,
      { 0, AT(0), 0, 0, false, false } },
    { "fp with a tag",
      FP_FP(16, -16),
      { 1, AT(0), AT(4) | (0xf3ull << 56 & ~SFB_ARCH_DATA_MASK), 0, false, false },
      SFB_OK,
      { 0xaaa5, AT(6), 0xaaa4, 0, false, false } },
};

Test(step, judges_each_case)
{
    for (unsigned i = 0; i < WORDS; i++)
        stack[i] = 0xaaa0 + i;
    stack[7] = 0;
    stack[11] = SIGNED;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_regs regs = cases[i].in;
        const struct sfb_regs *want = cases[i].want == SFB_OK ? &cases[i].out : &cases[i].in;

        cr_expect(eq(int, sfb_step(&regs, &cases[i].rule, &fake, NULL), cases[i].want), "%s",
                  cases[i].name);
        /* A step that fails leaves the frame as it was. */
        cr_expect(eq(u64, regs.pc, want->pc), "%s: pc", cases[i].name);
        cr_expect(eq(u64, regs.sp, want->sp), "%s: sp", cases[i].name);
        cr_expect(eq(u64, regs.fp, want->fp), "%s: fp", cases[i].name);
        cr_expect(eq(int, regs.lr_known, want->lr_known), "%s: lr", cases[i].name);
        cr_expect(eq(int, regs.sp_stayed, want->sp_stayed), "%s: stayed", cases[i].name);
    }
}
