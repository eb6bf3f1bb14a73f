/*
 * The walker by itself: fake modules with sections written here, a fake stack, no process.
 * libunwind is switched off, so that what is tested is the order of sources and the ways to end.
 */
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "sfb/walk.h"
#include "support/test.h"

/*
 * One section at TEXT + 0x1000 with two functions: [TEXT, +0x40) pushes fp at 1 (sp+8; then sp+16,
 * fp at CFA-16), [TEXT+0x80, +0x40) has a frame of 32 bytes throughout.
 */
#define TEXT    0x400000u
#define SECTION (TEXT + 0x1000u)

static const uint8_t section_bytes[] = {
    0xe2,
    0xde,
    1,
    1,
    3,
    0,
    0xf8,
    0,
    2,
    0,
    0,
    0,
    3,
    0,
    0,
    0,
    10,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    34,
    0,
    0,
    0,
    /* start -0x1000, size 0x40, rows at 0, 2 of them, ADDR1 */
    0x00,
    0xf0,
    0xff,
    0xff,
    0x40,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    2,
    0,
    0,
    0,
    0,
    /* start -0xf80 */
    0x80,
    0xf0,
    0xff,
    0xff,
    0x40,
    0,
    0,
    0,
    7,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    0x03,
    8,
    1,
    0x05,
    16,
    0xf0, /* sp+8; sp+16 with fp at CFA-16 */
    0,
    0x03,
    32,
};

static struct sfb_module module;
static unsigned finds;

static const struct sfb_module *find_fake(struct sfb_modules *modules, uint64_t pc)
{
    (void)modules;
    finds++;
    return pc >= module.start && pc < module.end ? &module : NULL;
}

#define STACK 0x7000u
static uint64_t stack[64];

/* Code bytes, for trampolines; everything else is zero. */
static uint8_t code[16];
#define CODE 0x500000u

static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address >= STACK && address < STACK + sizeof stack) {
        *out = stack[(address - STACK) / 8];
        return true;
    }
    if (address >= CODE && address < CODE + sizeof code) {
        memcpy(out, code + (address - CODE), 8);
        return true;
    }
    return false;
}

static struct sfb_memory memory = { .read = read_fake };
static struct sfb_modules modules = { .find = find_fake };
static const struct sfb_walker_options options = {
    .size = sizeof options, .flags = SFB_WALKER_NO_LIBUNWIND, .memory = &memory, .modules = &modules
};

static struct sfb_context at(uint64_t pc, uint64_t sp, uint64_t fp)
{
    struct sfb_context c = { .valid = 1u << 6 | 1u << 7 | 1u << 16 };

    c.reg[6] = fp;
    c.reg[7] = sp;
    c.reg[16] = pc;
    return c;
}

static void setup(void)
{
    module = (struct sfb_module){ .start = TEXT, .end = TEXT + 0x2000 };
    module.section_status =
        sfb_section_open(&module.section, section_bytes, sizeof section_bytes, SECTION, NULL);
    cr_assert(eq(int, module.section_status, SFB_OK));
    modules.entries = (struct sfb_entries){ 0, 0 };
    memset(stack, 0, sizeof stack);
    memset(code, 0, sizeof code);
    finds = 0;
}

struct expected {
    enum sfb_frame_kind kind;
    enum sfb_source source;
    uint64_t address;
};

static void walk(const struct sfb_context *start, enum sfb_frame_kind kind,
                 const struct expected *want, size_t count, enum sfb_status end)
{
    struct sfb_walker w;
    struct sfb_frame f;

    cr_assert(eq(int, sfb_walker_init(&w, start, kind, &options), SFB_OK));
    for (size_t i = 0; i < count; i++) {
        cr_assert(eq(int, sfb_walker_next(&w, &f), SFB_OK), "frame %zu", i);
        cr_expect(eq(u64, f.address, want[i].address), "frame %zu", i);
        cr_expect(eq(int, f.kind, want[i].kind), "frame %zu", i);
        cr_expect(eq(int, f.source, want[i].source), "frame %zu", i);
    }
    cr_expect(eq(int, sfb_walker_next(&w, &f), end));
    cr_expect(eq(int, sfb_walker_next(&w, &f), end), "asked again, it says the same");
}

TestSuite(walker, .init = setup);

Test(walker, follows_rows_until_code_that_nobody_covers)
{
    struct sfb_context start = at(TEXT + 0x10, STACK, 0x77);
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + 0x10 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, TEXT + 0x90 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } };

    stack[0] = 0x55;        /* saved fp */
    stack[1] = TEXT + 0x90; /* return address into the second function */
    stack[5] = 0x123456;    /* its caller: no module */
    walk(&start, SFB_FRAME_PC, want, 3, SFB_NO_MODULE);
}

Test(walker, looks_up_the_call_and_not_what_follows_it)
{
    /* The call is the last instruction of its function: the return address is one past it. */
    struct sfb_context start = at(TEXT + 0x40, STACK, 0x77);
    const struct expected ra[] = { { SFB_FRAME_RA, SFB_SOURCE_START, TEXT + 0x40 },
                                   { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } };
    const struct expected pc[] = { { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + 0x40 } };

    stack[1] = 0x123456;
    walk(&start, SFB_FRAME_RA, ra, 2, SFB_NO_MODULE);
    walk(&start, SFB_FRAME_PC, pc, 1, SFB_NO_FDE);
}

Test(walker, uses_the_first_row_at_the_interrupted_pc)
{
    struct sfb_context start = at(TEXT, STACK, 0x77);
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, TEXT },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } };

    stack[0] = 0x123456;
    walk(&start, SFB_FRAME_PC, want, 2, SFB_NO_MODULE);
}

Test(walker, asks_for_a_module_only_when_it_leaves_one)
{
    struct sfb_context start = at(TEXT + 0x10, STACK, 0x77);
    struct sfb_walker w;

    stack[1] = TEXT + 0x90;
    stack[5] = TEXT + 0x90;
    stack[9] = TEXT + 0x90;
    cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
    for (unsigned i = 0; i < 4; i++)
        cr_assert(eq(int, sfb_walker_next(&w, NULL), SFB_OK));
    cr_expect(eq(u32, finds, 1));
}

Test(walker, ends_in_honesty)
{
    static const struct {
        const char *name;
        uint64_t pc, sp, fp, word1;
        enum sfb_status want;
    } cases[] = {
        { "zero return address, fp zero", TEXT + 0x10, STACK, 0x77, 0, SFB_END },
        { "stack not readable", TEXT + 0x10, 0x9000, 0x77, 0, SFB_UNREADABLE },
        { "stack not aligned", TEXT + 0x10, STACK + 4, 0x77, 0, SFB_MISALIGNED },
        { "gap between functions", TEXT + 0x60, STACK, 0x77, 0, SFB_NO_FDE },
        { "no module", 0x666, STACK, 0x77, 0, SFB_NO_MODULE },
        { "pc zero", 0, STACK, 0x77, 0, SFB_NO_MODULE },
        { "pc at the very end", ~(uint64_t)0, STACK, 0x77, 0, SFB_NO_MODULE },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_context start = at(cases[i].pc, cases[i].sp, cases[i].fp);
        struct sfb_walker w;

        stack[1] = cases[i].word1;
        cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
        cr_assert(eq(int, sfb_walker_next(&w, NULL), SFB_OK));
        cr_expect(eq(int, sfb_walker_next(&w, NULL), cases[i].want), "%s", cases[i].name);
    }
}

Test(walker, says_why_each_source_had_nothing)
{
    struct sfb_context start = at(TEXT + 0x60, STACK, 0x77);
    struct sfb_walker w;

    cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
    cr_assert(eq(int, sfb_walker_next(&w, NULL), SFB_OK));
    cr_expect(eq(int, sfb_walker_next(&w, NULL), SFB_NO_FDE));
    cr_expect(eq(int, w.missed[SFB_SOURCE_SFRAME], SFB_NO_FDE));
    cr_expect(eq(int, w.missed[SFB_SOURCE_SIGNAL], SFB_NO_TRAMPOLINE));
    cr_expect(eq(int, w.missed[SFB_SOURCE_LIBUNWIND], SFB_NO_LIBUNWIND));
}

Test(walker, passes_a_corrupt_section_by)
{
    struct sfb_context start = at(TEXT + 0x10, STACK, 0x77);
    struct sfb_walker w;

    module.section_status = SFB_BAD_VERSION;
    cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
    cr_assert(eq(int, sfb_walker_next(&w, NULL), SFB_OK));
    cr_expect(eq(int, sfb_walker_next(&w, NULL), SFB_BAD_VERSION));
    cr_expect(eq(int, w.missed[SFB_SOURCE_LIBUNWIND], SFB_NO_LIBUNWIND), "it was asked");
}

static const uint8_t trampoline[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

/* A ucontext on the fake stack that resumes at the given registers. */
static void put_ucontext(uint64_t address, uint64_t pc, uint64_t sp, uint64_t fp)
{
    uint64_t *gregs = stack + (address - STACK + offsetof(ucontext_t, uc_mcontext.gregs)) / 8;

    gregs[REG_RIP] = pc;
    gregs[REG_RSP] = sp;
    gregs[REG_RBP] = fp;
}

Test(walker, walks_through_a_signal_frame_to_an_exact_pc)
{
    struct sfb_context start = at(TEXT + 0x90, STACK, 0x77);
    const struct expected want[] = { { SFB_FRAME_RA, SFB_SOURCE_START, TEXT + 0x90 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, CODE },
                                     { SFB_FRAME_PC, SFB_SOURCE_SIGNAL, TEXT + 0x80 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } };

    memcpy(code, trampoline, sizeof trampoline);
    stack[3] = CODE; /* the handler returns to the trampoline ... */
    put_ucontext(STACK + 32, TEXT + 0x80, STACK + 400, 0x99); /* ... which finds this at sp */
    stack[400 / 8 + 3] = 0x123456;
    walk(&start, SFB_FRAME_RA, want, 4, SFB_NO_MODULE);
}

Test(walker, recognises_both_instructions_of_a_trampoline)
{
    memcpy(code, trampoline, sizeof trampoline);
    put_ucontext(STACK, TEXT + 0x80, STACK + 400, 0x99);
    for (unsigned offset = 0; offset <= 7; offset += 7) {
        struct sfb_context start = at(CODE + offset, STACK, 0x77);
        const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, CODE + offset },
                                         { SFB_FRAME_PC, SFB_SOURCE_SIGNAL, TEXT + 0x80 } };

        walk(&start, SFB_FRAME_PC, want, 2, SFB_ZERO_RA);
    }
}

Test(walker, does_not_go_round_in_forged_signal_frames)
{
    struct sfb_context start = at(CODE, STACK, 0x77);
    struct sfb_walker w;
    enum sfb_status status;
    unsigned frames = 0;

    memcpy(code, trampoline, sizeof trampoline);
    put_ucontext(STACK, CODE, STACK, 0x77); /* resumes at itself */
    cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
    while ((status = sfb_walker_next(&w, NULL)) == SFB_OK && frames < 100000)
        frames++;
    cr_expect(eq(int, status, SFB_SIGNAL_LIMIT));
}

Test(walker, knows_where_processes_begin)
{
    struct sfb_context start = at(CODE + 4, STACK, 0);
    const struct expected ra[] = { { SFB_FRAME_RA, SFB_SOURCE_START, CODE + 4 } };
    struct sfb_context covered = at(TEXT + 0x20, STACK, 0);
    const struct expected pc[] = { { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + 0x20 } };

    /* No table: a return address into the entry's first bytes, before a hlt. */
    modules.entries.program = CODE;
    walk(&start, SFB_FRAME_RA, ra, 1, SFB_NO_MODULE);
    code[4] = 0xf4;
    walk(&start, SFB_FRAME_RA, ra, 1, SFB_END);

    /* With rows, which binutils 2.40 writes as if `_start` had a caller. */
    modules.entries.program = TEXT;
    walk(&covered, SFB_FRAME_PC, pc, 1, SFB_END);
    covered.reg[16] = TEXT + 0x90;
    modules.entries.program = TEXT + 0x70; /* near, but another function */
    stack[3] = 0x123456;
    walk(&covered, SFB_FRAME_PC,
         (const struct expected[]){ { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + 0x90 },
                                    { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } },
         2, SFB_NO_MODULE);

    modules.entries = (struct sfb_entries){ .loader = CODE };
    walk(&start, SFB_FRAME_RA, ra, 1, SFB_END);
}

Test(walker, judges_its_arguments)
{
    struct sfb_context start = at(TEXT, STACK, 0);
    struct sfb_walker_options bad = options;
    struct sfb_walker w;

    cr_expect(eq(int, sfb_walker_init(NULL, &start, SFB_FRAME_PC, &options), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_walker_init(&w, NULL, SFB_FRAME_PC, &options), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_OMIT, &options), SFB_BAD_ARGUMENT));
    bad.size = 3;
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &bad), SFB_BAD_ARGUMENT));
    bad = options;
    bad.flags = 0x80;
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &bad), SFB_BAD_ARGUMENT));
}
