/*
 * The walker by itself: fake modules with sections written here, a fake stack, no process.
 * libunwind is switched off, so that what is tested is the order of sources and the ways to end.
 */
#include <stddef.h>
#include <string.h>

#include "sfb/walk.h"
#include "support/machine.h"
#include "support/test.h"

/*
 * One section at TEXT + 0x1000 with two functions: [TEXT, +0x40) pushes fp at 1 (sp+8; then sp+16,
 * fp at CFA-16), [TEXT+0x80, +0x40) has a frame of 32 bytes throughout.
 */
#define TEXT    0x400000u
#define SECTION (TEXT + 0x1000u)

static const struct row pushing[] = { MACHINE_ROW(0, ROW_SP, 8),
                                      MACHINE_ROW_FP(1, ROW_SP, 16, -16) };
static const struct row keeping[] = { MACHINE_ROW(0, ROW_SP, 32) };
static const struct function functions[] = {
    { .start = -0x1000, .size = 0x40, .row_count = 2, .rows = pushing },
    { .start = -0xf80, .size = 0x40, .row_count = 1, .rows = keeping }
};
static const struct layout layout = { .abi = (enum sfb_abi)SFB_ARCH_ABI,
                                      .flags = SFB_SECTION_FDE_SORTED,
                                      .fixed_ra = MACHINE_FIXED_RA,
                                      .function_count = 2,
                                      .functions = functions };
static struct bytes section;

static struct sfb_module module;
static unsigned finds;

static const struct sfb_module *find_fake(const struct sfb_modules *modules, uint64_t pc,
                                          struct sfb_module *room)
{
    (void)modules;
    (void)room;
    finds++;
    return pc >= module.start && pc < module.end ? &module : NULL;
}

#define STACK 0x7000u
static uint64_t stack[256];

/* Code bytes, for trampolines and for what lies around functions; everything else is zero. */
static uint8_t code[16];
#define CODE 0x500000u
static uint8_t text[0x80];

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
    if (address >= TEXT && address < TEXT + sizeof text) {
        memcpy(out, text + (address - TEXT), 8);
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
    const struct sfb_regs regs = { .pc = pc, .sp = sp, .fp = fp };
    struct sfb_context c = { .valid = 0 };

    sfb_arch_context(&c, &regs);
    return c;
}

static void setup(void)
{
    section = section_bytes(&layout);
    module = (struct sfb_module){ .start = TEXT,
                                  .end = TEXT + 0x2000,
                                  .eh_frame_status = SFB_NO_EH_FRAME };
    module.section_status = sfb_section_open(&module.section, section.at, section.n, SECTION, NULL);
    cr_assert(eq(int, module.section_status, SFB_OK));
    modules.entries = (struct sfb_entries){ 0, 0 };
    memset(stack, 0, sizeof stack);
    memset(code, 0, sizeof code);
    memset(text, 0, sizeof text);
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
    struct sfb_context registers = *start;
    struct sfb_walker w;
    struct sfb_frame f;

    cr_assert(eq(int, sfb_walker_init(&w, &registers, kind, &options), SFB_OK));
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

/* Padding from an offset up to the second function. */
static void put_padding(size_t from)
{
    for (size_t i = from; i + sizeof machine_padding <= sizeof text; i += sizeof machine_padding)
        memcpy(text + i, machine_padding, sizeof machine_padding);
}

Test(walker, gives_padding_that_is_run_the_rule_of_the_function_behind)
{
    put_padding(0x40);
    stack[3] = 0x123456; /* the second function's frame is 32 bytes from its start */
    for (uint64_t from = 0x44; from < 0x80; from += sizeof machine_padding) {
        struct sfb_context start = at(TEXT + from, STACK, 0x77);
        const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + from },
                                         { SFB_FRAME_RA, SFB_SOURCE_CODE_PATTERN, 0x123456 } };
        struct sfb_walker w;
        struct sfb_frame f;

        walk(&start, SFB_FRAME_PC, want, 2, SFB_NO_MODULE);
        cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
        cr_assert(eq(int, sfb_walker_next(&w, NULL), SFB_OK));
        cr_assert(eq(int, sfb_walker_next(&w, &f), SFB_OK));
        cr_expect(eq(int, f.missed[SFB_SOURCE_SFRAME], SFB_NO_FDE));
        cr_expect(eq(int, f.missed[SFB_SOURCE_CODE_PATTERN], SFB_OK));
        cr_expect(eq(int, f.missed[SFB_SOURCE_EH_FRAME], SFB_NO_EH_FRAME));
    }
}

Test(walker, takes_nothing_else_for_padding)
{
    static const struct {
        const char *name;
        size_t pc, padding_from, other_at;
        enum sfb_frame_kind kind;
    } cases[] = {
        { "64 bytes of it", 0x40, 0x40, 0, SFB_FRAME_PC },
        { "a return address", 0x60, 0x40, 0, SFB_FRAME_RA },
        { "a return address right before the function", 0x7c, 0x40, 0, SFB_FRAME_RA },
        { "code in it", 0x60, 0x40, 0x70, SFB_FRAME_PC },
        { "code at the pc", 0x60, 0x40, 0x60, SFB_FRAME_PC },
        { "code at its end", 0x60, 0x40, 0x7c, SFB_FRAME_PC },
        { "it leads past the first instruction", 0x62, 0x62, 0, SFB_FRAME_PC },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_context start = at(TEXT + cases[i].pc, STACK, 0x77);
        const struct expected want[] = { { cases[i].kind, SFB_SOURCE_START, TEXT + cases[i].pc } };

        memset(text, 0, sizeof text);
        put_padding(cases[i].padding_from);
        if (cases[i].padding_from % 4 != 0)
            memcpy(text + sizeof text - 2, machine_padding, 2);
        if (cases[i].other_at != 0)
            memset(text + cases[i].other_at, 0, sizeof machine_padding);
        stack[3] = 0x123456;
        walk(&start, cases[i].kind, want, 1, SFB_NO_FDE);
    }
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
        { "zero return address, fp zero", TEXT + 0x10, STACK, 0x77, 0, SFB_ZERO_RA },
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
    cr_expect(eq(int, sfb_walker_frame(&w)->missed[SFB_SOURCE_SFRAME], SFB_NO_FDE));
    cr_expect(eq(int, sfb_walker_frame(&w)->missed[SFB_SOURCE_SIGNAL], SFB_NO_CODE_PATTERN));
    cr_expect(eq(int, sfb_walker_frame(&w)->missed[SFB_SOURCE_LIBUNWIND], SFB_NO_LIBUNWIND));
}

Test(walker, passes_a_corrupt_section_by)
{
    struct sfb_context start = at(TEXT + 0x10, STACK, 0x77);
    struct sfb_walker w;

    module.section_status = SFB_BAD_VERSION;
    cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
    cr_assert(eq(int, sfb_walker_next(&w, NULL), SFB_OK));
    cr_expect(eq(int, sfb_walker_next(&w, NULL), SFB_BAD_VERSION));
    cr_expect(eq(int, sfb_walker_frame(&w)->missed[SFB_SOURCE_LIBUNWIND], SFB_NO_LIBUNWIND),
              "it was asked");
}

/* What a signal leaves on the fake stack, to resume so, where a trampoline with its sp at `address` finds it. */
static void put_ucontext(uint64_t address, uint64_t pc, uint64_t sp, uint64_t fp)
{
    uint64_t first = (address - STACK) / 8;

    stack[first + MACHINE_SAVED_PC / 8] = pc;
    stack[first + MACHINE_SAVED_SP / 8] = sp;
    stack[first + MACHINE_SAVED_FP / 8] = fp;
}

/* Behind what a signal puts on the stack. */
#define INTERRUPTED (STACK + 1600)

Test(walker, walks_through_a_signal_frame_to_an_exact_pc)
{
    struct sfb_context start = at(TEXT + 0x90, STACK, 0x77);
    const struct expected want[] = { { SFB_FRAME_RA, SFB_SOURCE_START, TEXT + 0x90 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, CODE },
                                     { SFB_FRAME_PC, SFB_SOURCE_SIGNAL, TEXT + 0x80 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } };

    memcpy(code, machine_trampoline, sizeof machine_trampoline);
    put_ucontext(STACK + 32, TEXT + 0x80, INTERRUPTED, 0x99); /* the trampoline finds this at sp */
    stack[3] = CODE;                                          /* and the handler returns to it */
    stack[(INTERRUPTED - STACK) / 8 + 3] = 0x123456;
    walk(&start, SFB_FRAME_RA, want, 4, SFB_NO_MODULE);
}

Test(walker, recognises_both_instructions_of_a_trampoline)
{
    memcpy(code, machine_trampoline, sizeof machine_trampoline);
    put_ucontext(STACK, TEXT + 0x80, INTERRUPTED, 0x99);
    for (unsigned offset = 0; offset <= MACHINE_SYSCALL_AT; offset += MACHINE_SYSCALL_AT) {
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

    memcpy(code, machine_trampoline, sizeof machine_trampoline);
    put_ucontext(STACK, CODE, STACK, 0x77); /* resumes at itself */
    cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &options), SFB_OK));
    while ((status = sfb_walker_next(&w, NULL)) == SFB_OK && frames < 100000)
        frames++;
    cr_expect(eq(int, status, SFB_SIGNAL_LIMIT));
}

Test(walker, knows_where_processes_begin)
{
    struct sfb_context start = at(CODE + MACHINE_START_RA, STACK, 0);
    const struct expected ra[] = { { SFB_FRAME_RA, SFB_SOURCE_START, CODE + MACHINE_START_RA } };
    struct sfb_context covered = at(TEXT + 0x20, STACK, 0);
    const struct expected pc[] = { { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + 0x20 } };

    /* No table: a return address into the entry's first bytes, which say that none comes back. */
    modules.entries.program = CODE;
    walk(&start, SFB_FRAME_RA, ra, 1, SFB_NO_MODULE);
    memcpy(code, machine_start, sizeof machine_start);
    walk(&start, SFB_FRAME_RA, ra, 1, SFB_END);

    /* With rows, which binutils 2.40 writes as if `_start` had a caller. */
    modules.entries.program = TEXT;
    walk(&covered, SFB_FRAME_PC, pc, 1, SFB_END);
    covered.reg[SFB_ARCH_PC] = TEXT + 0x90;
    modules.entries.program = TEXT + 0x70; /* near, but another function */
    stack[3] = 0x123456;
    walk(&covered, SFB_FRAME_PC,
         (const struct expected[]){ { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + 0x90 },
                                    { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } },
         2, SFB_NO_MODULE);

    modules.entries = (struct sfb_entries){ .loader = CODE };
    walk(&start, SFB_FRAME_RA, ra, 1, SFB_END);

    /* A loader whose entry is shorter than those that are known: behind it is a function. */
    modules.entries.loader = TEXT + 0x70;
    walk(&covered, SFB_FRAME_PC,
         (const struct expected[]){ { SFB_FRAME_PC, SFB_SOURCE_START, TEXT + 0x90 },
                                    { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } },
         2, SFB_NO_MODULE);
}

Test(walker, believes_an_end_only_behind_a_call)
{
    struct sfb_context inside = at(TEXT + 0x20, STACK, 0), start = at(CODE + 4, STACK, 0);

    modules.entries.program = TEXT;
    walk(&inside, SFB_FRAME_RA,
         (const struct expected[]){ { SFB_FRAME_RA, SFB_SOURCE_START, TEXT + 0x20 } }, 1,
         SFB_NOT_A_CALL);
    memcpy(text + 0x20 - MACHINE_START_RA, machine_start, sizeof machine_start);
    walk(&inside, SFB_FRAME_RA,
         (const struct expected[]){ { SFB_FRAME_RA, SFB_SOURCE_START, TEXT + 0x20 } }, 1, SFB_END);

    modules.entries = (struct sfb_entries){ .loader = CODE };
    walk(&start, SFB_FRAME_RA,
         (const struct expected[]){ { SFB_FRAME_RA, SFB_SOURCE_START, CODE + 4 } }, 1,
         SFB_NOT_A_CALL);
}

/* A walk over any address space has a cache, if it is given one: rules are there when tables are gone. */
Test(walker, remembers_rules_in_the_cache_that_it_is_given)
{
    static struct sfb_rule_cache cache, empty;
    struct sfb_context start = at(TEXT + 0x90, STACK, 0);
    const struct expected want[] = { { SFB_FRAME_RA, SFB_SOURCE_START, TEXT + 0x90 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, TEXT + 0xa0 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, 0x123456 } };

    stack[3] = TEXT + 0xa0;
    stack[7] = 0x123456;
    module.id = 5;
    modules.cache = &cache;
    walk(&start, SFB_FRAME_RA, want, 3, SFB_NO_MODULE);
    module.section.fde_count = 0;
    walk(&start, SFB_FRAME_RA, want, 3, SFB_NO_MODULE);
    module.id = 6; /* another module in its place */
    walk(&start, SFB_FRAME_RA, want, 1, SFB_NO_FDE);
    module.id = 5;
    modules.cache = &empty;
    walk(&start, SFB_FRAME_RA, want, 1, SFB_NO_FDE);
    modules.cache = NULL;
    walk(&start, SFB_FRAME_RA, want, 1, SFB_NO_FDE);
}
