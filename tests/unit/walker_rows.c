/*
 * What the walker does with rows that only version 3 of SFrame has: other registers, signal frames,
 * an undefined return address; and with sections behind the first. A fake module and a fake stack,
 * no libunwind, no .eh_frame.
 */
#include <stddef.h>
#include <string.h>

#include "sfb/walk.h"
#include "support/machine.h"
#include "support/test.h"

/*
 * One section at TEXT + 0x1000. Each function has 0x40 bytes and one row:
 *
 *     NEEDS     CFA = register 10 + 16, RA at CFA - 8
 *     KEEPS     CFA = sp + 32, RA at CFA - 8
 *     SIGNALS   the same, a signal frame
 *     ENDS      RA undefined
 *
 * FURTHER is like KEEPS, in a second section.
 */
#define TEXT    0x400000u
#define SECTION (TEXT + 0x1000u)
#define NEEDS   TEXT
#define KEEPS   (TEXT + 0x80u)
#define SIGNALS (TEXT + 0x100u)
#define ENDS    (TEXT + 0x180u)
#define FURTHER (TEXT + 0x200u)
#define OUTSIDE 0x123456u

enum { OTHER = 10, REG_10 = OTHER << 3 | 1, WORD_AT_CFA = 2 };

static const struct row needs[] = { { .info = ROW_INFO(4, 0, 0),
                                      .offset = { REG_10, 16, WORD_AT_CFA, -8 } } };
static const struct row keeps[] = { MACHINE_ROW(0, ROW_SP, 32) };
static const struct row ends[] = { { .info = 0 } };
static const struct function functions[] = {
    { .start = -0x1000, .size = 0x40, .row_count = 1, .rows = needs },
    { .start = -0xf80, .size = 0x40, .row_count = 1, .rows = keeps },
    { .start = -0xf00, .size = 0x40, .info = 0x80, .row_count = 1, .rows = keeps },
    { .start = -0xe80, .size = 0x40, .row_count = 1, .rows = ends },
};
static const struct function_more more[] = { { .info2 = 1 }, { 0 }, { 0 }, { 0 } };

static struct bytes section;
static struct sfb_module module;

static const struct sfb_module *find_fake(const struct sfb_modules *modules, uint64_t pc,
                                          struct sfb_module *room)
{
    (void)modules;
    (void)room;
    return pc >= module.start && pc < module.end ? &module : NULL;
}

#define STACK       0x7000u
#define INTERRUPTED (STACK + 1600)
static uint64_t stack[256];
static uint8_t text[0x280];

static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address >= STACK && address < STACK + sizeof stack) {
        *out = stack[(address - STACK) / 8];
        return true;
    }
    if (address >= TEXT && address < TEXT + sizeof text - 8) {
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

static struct sfb_context at(uint64_t pc)
{
    const struct sfb_regs regs = { .pc = pc, .sp = STACK, .fp = 0x77 };
    struct sfb_context c = { .valid = 0 };

    sfb_arch_context(&c, &regs);
    return c;
}

/* The two sections, one behind the other. */
static void setup(void)
{
    const struct layout first = { .abi = (enum sfb_abi)SFB_ARCH_ABI,
                                  .version = 3,
                                  .flags = SFB_SECTION_FDE_SORTED | FIELD_RELATIVE,
                                  .fixed_ra = MACHINE_FIXED_RA,
                                  .function_count = 4,
                                  .functions = functions,
                                  .more = more };
    struct layout second = first;
    struct function further = functions[1];
    struct bytes b;
    size_t end;

    section = section_bytes(&first);
    end = (section.n + 7) & ~(size_t)7;
    further.start = (int64_t)FURTHER - (int64_t)(SECTION + end);
    second.version = 2;
    second.flags = SFB_SECTION_FDE_SORTED;
    second.function_count = 1;
    second.functions = &further;
    second.more = NULL;
    b = section_bytes(&second);
    memcpy(section.at + end, b.at, b.n);
    section.n = end + b.n;

    module = (struct sfb_module){ .start = TEXT,
                                  .end = TEXT + 0x2000,
                                  .eh_frame_status = SFB_NO_EH_FRAME };
    module.section_status = sfb_section_open(&module.section, section.at, section.n, SECTION, NULL);
    cr_assert(eq(int, module.section_status, SFB_OK));
    modules.entries = (struct sfb_entries){ 0, 0 };
    memset(stack, 0, sizeof stack);
    memset(text, 0, sizeof text);
}

struct expected {
    enum sfb_frame_kind kind;
    enum sfb_source source;
    uint64_t address;
};

/* Where a trampoline finds it whose frame is at STACK: KEEPS was interrupted. */
static void put_ucontext(void)
{
    const size_t room = sizeof stack - MACHINE_UCONTEXT_AT;
    ucontext_t uc;

    memset(&uc, 0, sizeof uc);
    machine_set_ucontext(&uc, KEEPS, INTERRUPTED, 0x99);
    memcpy((uint8_t *)stack + MACHINE_UCONTEXT_AT, &uc, room < sizeof uc ? room : sizeof uc);
}

static struct sfb_walker walker;

static void walk(struct sfb_context start, enum sfb_frame_kind kind, const struct expected *want,
                 size_t count, enum sfb_status end)
{
    struct sfb_frame f;

    cr_assert(eq(int, sfb_walker_init(&walker, &start, kind, &options), SFB_OK));
    for (size_t i = 0; i < count; i++) {
        cr_assert(eq(int, sfb_walker_next(&walker, &f), SFB_OK), "frame %zu", i);
        cr_expect(eq(u64, f.address, want[i].address), "frame %zu", i);
        cr_expect(eq(int, f.kind, want[i].kind), "frame %zu", i);
        cr_expect(eq(int, f.source, want[i].source), "frame %zu", i);
    }
    cr_expect(eq(int, sfb_walker_next(&walker, &f), end));
}

TestSuite(walker_rows, .init = setup);

Test(walker_rows, have_any_register_in_the_innermost_frame)
{
    struct sfb_context start = at(NEEDS + 8);
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, NEEDS + 8 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, OUTSIDE } };

    start.reg[OTHER] = STACK + 24;
    start.valid |= (uint64_t)1 << OTHER;
    stack[4] = OUTSIDE;
    walk(start, SFB_FRAME_PC, want, 2, SFB_NO_MODULE);
}

/* A register that is not known is why the sources behind are asked. */
Test(walker_rows, leave_a_register_that_is_not_known_to_others)
{
    struct sfb_context start = at(KEEPS + 8), inner = at(NEEDS + 8);
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, KEEPS + 8 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, NEEDS + 8 } };

    /* Known in the innermost frame; not in its caller. */
    start.reg[OTHER] = STACK + 64;
    start.valid |= (uint64_t)1 << OTHER;
    stack[3] = NEEDS + 8;
    walk(start, SFB_FRAME_PC, want, 2, SFB_NO_REGISTER);
    cr_expect(eq(int, sfb_walker_frame(&walker)->missed[SFB_SOURCE_SFRAME], SFB_NO_REGISTER));
    cr_expect(eq(int, sfb_walker_frame(&walker)->missed[SFB_SOURCE_EH_FRAME], SFB_NO_EH_FRAME));
    cr_expect(eq(int, sfb_walker_frame(&walker)->missed[SFB_SOURCE_LIBUNWIND], SFB_NO_LIBUNWIND));

    /* Code that another source knows: the trampoline, in the place of that function. */
    memcpy(text + (NEEDS + 8 - TEXT), machine_trampoline, sizeof machine_trampoline);
    inner.valid &= ~((uint64_t)1 << OTHER);
    {
        const struct expected found[] = { { SFB_FRAME_PC, SFB_SOURCE_START, NEEDS + 8 },
                                          { SFB_FRAME_PC, SFB_SOURCE_SIGNAL, KEEPS },
                                          { SFB_FRAME_RA, SFB_SOURCE_SFRAME, OUTSIDE } };

        put_ucontext();
        stack[(INTERRUPTED - STACK) / 8 + 3] = OUTSIDE;
        walk(inner, SFB_FRAME_PC, found, 3, SFB_NO_MODULE);
    }
}

/* What a signal frame returns to was interrupted: it is looked up as it is. */
Test(walker_rows, lead_from_a_signal_frame_to_an_exact_pc)
{
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, SIGNALS + 8 },
                                     { SFB_FRAME_PC, SFB_SOURCE_SFRAME, KEEPS },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, OUTSIDE } };

    stack[3] = KEEPS; /* its first byte; the one before is in no function */
    stack[7] = OUTSIDE;
    walk(at(SIGNALS + 8), SFB_FRAME_PC, want, 3, SFB_NO_MODULE);
}

/* Where the kernel made the frame, what it saved says more than a row. */
Test(walker_rows, of_a_trampoline_stand_back_behind_what_the_kernel_saved)
{
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, SIGNALS + 8 },
                                     { SFB_FRAME_PC, SFB_SOURCE_SIGNAL, KEEPS } };

    put_ucontext();
    memcpy(text + (SIGNALS + 8 - TEXT), machine_trampoline, sizeof machine_trampoline);
    walk(at(SIGNALS + 8), SFB_FRAME_PC, want, 2, SFB_ZERO_RA);
}

Test(walker_rows, end_the_walk_where_ra_is_undefined)
{
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, KEEPS },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, ENDS + 8 } };

    stack[3] = ENDS + 8;
    walk(at(KEEPS), SFB_FRAME_PC, want, 2, SFB_NOT_A_CALL);
    memcpy(text + (ENDS + 8 - MACHINE_START_RA - TEXT), machine_start, sizeof machine_start);
    walk(at(KEEPS), SFB_FRAME_PC, want, 2, SFB_END);
}

Test(walker_rows, of_a_section_behind_the_first_are_found)
{
    const struct expected want[] = { { SFB_FRAME_PC, SFB_SOURCE_START, FURTHER + 8 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, KEEPS + 8 },
                                     { SFB_FRAME_RA, SFB_SOURCE_SFRAME, OUTSIDE } };
    const struct expected entry[] = { { SFB_FRAME_PC, SFB_SOURCE_START, FURTHER + 8 } };

    stack[3] = KEEPS + 8;
    stack[7] = OUTSIDE;
    walk(at(FURTHER + 8), SFB_FRAME_PC, want, 3, SFB_NO_MODULE);
    /* And the program's entry, if it is there. */
    modules.entries.program = FURTHER;
    walk(at(FURTHER + 8), SFB_FRAME_PC, entry, 1, SFB_END);
}
