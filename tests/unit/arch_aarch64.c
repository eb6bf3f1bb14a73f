/*
 * What AArch64's instructions say: linkage stubs, trampolines, calls, prologues and `_start`, each
 * as objdump prints it for what GNU ld, lld, gcc and glibc made, and with one thing wrong in it.
 */
#include <string.h>

#include "support/test.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/go.h"
#include "unwind/machine/insn_patterns.h"

#define BASE  0x400000u
#define WORDS 32u

static uint32_t code[WORDS];

/* Instructions are bytes in little-endian order, on any machine. */
static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    uint8_t bytes[8];

    (void)memory;
    if (address < BASE || address + 8 > BASE + sizeof code)
        return false;
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(code[(address - BASE + i) / 4] >> (address + i) % 4 * 8);
    memcpy(out, bytes, sizeof bytes);
    return true;
}

static struct sfb_memory fake = { .read = read_fake };

static void put(const uint32_t *words, size_t count)
{
    memset(code, 0, sizeof code);
    memcpy(code, words, count * sizeof *words);
}

#define AT(word) (BASE + 4u * (unsigned)(word))

#define NOP  0xd503201f
#define BTI  0xd503245f
#define STP  0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */
#define ADRP 0xf00000f0 /* adrp x16, 1f000 */
#define LDR  0xf947fe11 /* ldr x17, [x16, #4088] */
#define ADD  0x913fe210 /* add x16, x16, #0xff8 */
#define AUT  0xd503219f /* autia1716 */
#define BR   0xd61f0220 /* br x17 */

enum { NONE, IN_LR, PUSHED };

static const struct {
    const char *name;
    uint32_t words[10];
    uint8_t want[10]; /* for each word */
} stubs[] = {
    { "plt", { NOP, ADRP, LDR, ADD, BR, NOP }, { NONE, IN_LR, IN_LR, IN_LR, IN_LR, NONE } },
    { "one stub behind the other",
      { ADRP, LDR, ADD, BR, ADRP, LDR, ADD, BR },
      { IN_LR, IN_LR, IN_LR, IN_LR, IN_LR, IN_LR, IN_LR, IN_LR } },
    { "first entry",
      { STP, ADRP, LDR, ADD, BR, NOP, NOP },
      { IN_LR, PUSHED, PUSHED, PUSHED, PUSHED, NONE, NONE } },
    { "first entry, bti",
      { BTI, STP, ADRP, LDR, ADD, BR, NOP },
      { IN_LR, IN_LR, PUSHED, PUSHED, PUSHED, PUSHED, NONE } },
    { "bti", { BTI, ADRP, LDR, ADD, BR, NOP }, { IN_LR, IN_LR, IN_LR, IN_LR, IN_LR, NONE } },
    { "pac", { ADRP, LDR, ADD, AUT, BR, NOP }, { IN_LR, IN_LR, IN_LR, IN_LR, IN_LR, NONE } },
    { "bti and pac",
      { BTI, ADRP, LDR, ADD, AUT, BR },
      { IN_LR, IN_LR, IN_LR, IN_LR, IN_LR, IN_LR } },
    { "a no-op for add 0", { ADRP, LDR, NOP, BR, NOP }, { IN_LR, IN_LR, IN_LR, IN_LR, NONE } },
    { "two no-ops", { ADRP, LDR, NOP, NOP, BR }, { NONE } },
    { "no adrp", { NOP, LDR, ADD, BR }, { NONE } },
    { "no ldr", { ADRP, ADD, BR }, { NONE } },
    { "no add", { ADRP, LDR, BR }, { NONE } },
    { "no br", { ADRP, LDR, ADD, NOP }, { NONE } },
    { "br alone", { NOP, BR }, { NONE } },
    { "in another order", { LDR, ADRP, ADD, BR }, { NONE } },
    { "twice the same", { ADRP, LDR, LDR, ADD, BR }, { NONE, NONE, NONE, NONE, NONE } },
    { "another register: ldr x17, [x15]", { ADRP, LDR - 0x20, ADD, BR }, { NONE } },
    { "br x16", { ADRP, LDR, ADD, BR - 0x20 }, { NONE } },
};

Test(arch_aarch64, finds_the_rule_of_each_instruction_of_a_stub)
{
    for (size_t s = 0; s < sizeof stubs / sizeof *stubs; s++) {
        put(stubs[s].words, 10);
        for (unsigned i = 0; i < 10; i++) {
            struct sfb_rule r = { .cfa_offset = -1 };
            bool found = sfb_arch_stub_rule(&fake, AT(i), &r);

            cr_expect(eq(int, found, stubs[s].want[i] != NONE), "%s: %u", stubs[s].name, i);
            if (!found)
                continue;
            cr_expect(eq(int, r.cfa_base, SFB_BASE_SP));
            cr_expect(eq(int, r.fp.where, SFB_WHERE_UNSAVED));
            cr_expect(eq(int, r.flags, 0));
            if (stubs[s].want[i] == PUSHED) {
                cr_expect(eq(int, r.cfa_offset, 16), "%s: %u", stubs[s].name, i);
                cr_expect(eq(int, r.ra.where, SFB_WHERE_CFA));
                cr_expect(eq(int, r.ra.offset, -8));
            } else {
                cr_expect(eq(int, r.cfa_offset, 0), "%s: %u", stubs[s].name, i);
                cr_expect(eq(int, r.ra.where, SFB_WHERE_UNSAVED));
            }
        }
    }
}

Test(arch_aarch64, knows_where_a_goroutine_ends)
{
    static const uint32_t goexit[] = { NOP, 0xaa0003e0 /* mov x0, x0 */, 0x94001234 /* bl */, NOP };

    put(goexit, 4);
    for (unsigned i = 0; i < 4; i++)
        cr_expect(eq(int, sfb_arch_is_goroutine_end(&fake, AT(i)), i == 2), "%u", i);
    cr_expect(not(sfb_arch_is_goroutine_end(&fake, AT(2) + 1)));
    code[2] = 0x14001234; /* b */
    cr_expect(not(sfb_arch_is_goroutine_end(&fake, AT(2))));
    code[2] = 0x94001234;
    code[1] = NOP;
    cr_expect(not(sfb_arch_is_goroutine_end(&fake, AT(2))));
}

Test(arch_aarch64, reads_no_stub_past_the_end_of_memory)
{
    struct sfb_rule r;

    memset(code, 0, sizeof code);
    code[WORDS - 2] = ADRP;
    code[WORDS - 1] = LDR;
    cr_expect(not(sfb_arch_stub_rule(&fake, AT(WORDS - 2), &r)));
    cr_expect(not(sfb_arch_stub_rule(&fake, AT(WORDS), &r)));
    cr_expect(not(sfb_arch_stub_rule(&fake, AT(0) + 2, &r)), "not where an instruction begins");
    code[0] = ADD;
    code[1] = BR;
    cr_expect(not(sfb_arch_stub_rule(&fake, AT(0), &r)), "its beginning is not there");
}

/* Code whose table is wrong: what its instructions say of each of its places. */
enum { CUT = PUSHED + 1 };

static enum sfb_status known_rule(unsigned word, enum sfb_frame_kind kind, struct sfb_rule *out)
{
    return sfb_arch_known_rule(&fake, AT(word), kind, out);
}

Test(arch_aarch64, finds_the_rule_of_lazy_binding)
{
    static const uint32_t resolver[] = { NOP,
                                         0xd503245f /* bti c */,
                                         0xa9b327e8 /* stp x8, x9, [sp, #-208]! */,
                                         0xa9011fe6,
                                         0xf85f8200,
                                         0x97fff736 /* bl _dl_fixup */,
                                         0xaa0003f0,
                                         0xa9411fe6,
                                         0xa8cd27e8 /* ldp x8, x9, [sp], #208 */,
                                         0xa8c17bf1 /* ldp x17, x30, [sp], #16 */,
                                         0xd61f0200 /* br x16 */,
                                         NOP };
    static const int32_t cfa[] = { -1, 16, 16, 224, 224, 224, 224, 224, 224, 16, 0, -1 };
    struct sfb_rule r;

    put(resolver, 12);
    for (unsigned i = 0; i < 12; i++) {
        enum sfb_status status = known_rule(i, SFB_FRAME_PC, &r);

        cr_expect(eq(int, status, cfa[i] < 0 ? SFB_NO_CODE_PATTERN : SFB_OK), "%u", i);
        if (status != SFB_OK)
            continue;
        cr_expect(eq(int, r.cfa_offset, cfa[i]), "%u", i);
        cr_expect(eq(int, r.ra.where, cfa[i] ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED), "%u", i);
        cr_expect(eq(int, r.fp.where, SFB_WHERE_UNSAVED));
    }
    cr_expect(eq(int, known_rule(6, SFB_FRAME_RA, &r), SFB_OK), "behind its call");
    cr_expect(eq(int, r.cfa_offset, 224));
    code[4] = 0x14000002; /* b */
    cr_expect(eq(int, known_rule(6, SFB_FRAME_RA, &r), SFB_NO_CODE_PATTERN),
              "another function's code");
}

Test(arch_aarch64, follows_longjmp_until_it_is_half_way)
{
    static const uint32_t jump[] = { 0x14000000 /* b */,
                                     NOP,
                                     0xa9405013 /* ldp x19, x20, [x0] */,
                                     0xa945101d /* ldp x29, x4, [x0, #80] */,
                                     0xf9400043,
                                     0xca03009e /* eor x30, x4, x3 */,
                                     0xf9403404,
                                     0xca030085,
                                     0x910000bf /* mov sp, x5 */,
                                     0x9a801020,
                                     0xd61f03c0 /* br x30 */,
                                     NOP };
    static const uint8_t want[] = { NONE, IN_LR, IN_LR, IN_LR, CUT,   CUT,
                                    CUT,  CUT,   CUT,   IN_LR, IN_LR, NONE };
    static const enum sfb_status status[] = {
        [NONE] = SFB_NO_CODE_PATTERN, [IN_LR] = SFB_OK, [CUT] = SFB_NO_REGISTER
    };
    struct sfb_rule r;

    put(jump, 12);
    for (unsigned i = 0; i < 12; i++) {
        cr_expect(eq(int, known_rule(i, SFB_FRAME_PC, &r), status[want[i]]), "%u", i);
        if (want[i] == IN_LR)
            cr_expect(r.ra.where == SFB_WHERE_UNSAVED && r.cfa_offset == 0, "%u", i);
        cr_expect(eq(int, known_rule(i, SFB_FRAME_RA, &r), SFB_NO_CODE_PATTERN),
                  "it calls nothing: %u", i);
    }
}

Test(arch_aarch64, knows_a_trampoline_by_both_of_its_instructions)
{
    static const uint32_t good[] = { NOP, 0xd2801168, 0xd4000001, NOP };
    static const uint32_t bad[][2] = { { 0xd2801168, 0xd4000021 },
                                       { 0xd2801169, 0xd4000001 },
                                       { 0xd2801148, 0xd4000001 } };

    put(good, 4);
    cr_expect(not(sfb_arch_is_trampoline(&fake, AT(0))));
    cr_expect(sfb_arch_is_trampoline(&fake, AT(1)));
    cr_expect(sfb_arch_is_trampoline(&fake, AT(2)));
    cr_expect(not(sfb_arch_is_trampoline(&fake, AT(3))));
    cr_expect(not(sfb_arch_is_trampoline(&fake, AT(1) + 1)));
    for (unsigned i = 0; i < 3; i++) {
        put(bad[i], 2);
        cr_expect(not(sfb_arch_is_trampoline(&fake, AT(0))), "%u", i);
        cr_expect(not(sfb_arch_is_trampoline(&fake, AT(1))), "%u", i);
    }
}

Test(arch_aarch64, knows_every_call_instruction)
{
    static const struct {
        uint32_t word;
        bool call;
    } cases[] = {
        { 0x94000000, true },  /* bl */
        { 0x97ffee80, true },  /* bl, backwards */
        { 0x14000000, false }, /* b */
        { 0xd63f0020, true },  /* blr x1 */
        { 0xd63f03c0, true },  /* blr x30 */
        { 0xd73f083e, true },  /* blraa x1, x30 */
        { 0xd73f0c22, true },  /* blrab x1, x2 */
        { 0xd63f083f, true },  /* blraaz x1 */
        { 0xd63f0c3f, true },  /* blrabz x1 */
        { 0xd61f0020, false }, /* br x1 */
        { 0xd65f03c0, false }, /* ret */
        { 0xd65f0bff, false }, /* retaa */
        { 0xd71f0822, false }, /* braa x1, x2 */
        { NOP, false },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(&cases[i].word, 1);
        cr_expect(eq(int, sfb_arch_is_call(&fake, AT(1)), cases[i].call), "%#x", cases[i].word);
    }
    cr_expect(not(sfb_arch_is_call(&fake, AT(0))), "nothing is before it");
}

Test(arch_aarch64, sees_whether_a_function_has_set_its_frame_pointer)
{
    static const uint32_t plain[] = { 0xa9bf7bfd /* stp x29, x30, [sp, #-16]! */,
                                      0x910003fd /* mov x29, sp */, NOP };
    static const uint32_t high[] = { 0xd10843ff /* sub sp, sp, #0x210 */,
                                     0xa91f7bfd /* stp x29, x30, [sp, #496] */,
                                     0x9107c3fd /* add x29, sp, #0x1f0 */, NOP };
    static const uint32_t none[] = { 0xa9bf7bfd, 0x910003fc /* mov x28, sp */,
                                     0x910003bd /* mov x29, x29 */, NOP };

    put(plain, 3);
    cr_expect(not(sfb_arch_sets_fp(&fake, AT(0), AT(0))));
    cr_expect(not(sfb_arch_sets_fp(&fake, AT(0), AT(1))), "not yet");
    cr_expect(sfb_arch_sets_fp(&fake, AT(0), AT(2)));
    put(high, 4);
    cr_expect(not(sfb_arch_sets_fp(&fake, AT(0), AT(2))));
    cr_expect(sfb_arch_sets_fp(&fake, AT(0), AT(3) + 3), "the byte before a return address");
    put(none, 4);
    cr_expect(not(sfb_arch_sets_fp(&fake, AT(0), AT(4))));
    cr_expect(not(sfb_arch_sets_fp(&fake, AT(WORDS), AT(WORDS + 4))), "no code there");
}

Test(arch_aarch64, knows_where_processes_begin)
{
    /* glibc's _start: 13 instructions, of which the last two are calls. */
    static const uint32_t start[] = { NOP,        NOP,        NOP,        0xd280001d,
                                      0xd280001e, 0xaa0003e5, 0xf94003e1, 0x910023e2,
                                      0x910003e6, 0x90000000, 0xf9400000, 0xd2800003,
                                      0xd2800004, 0x94000000, 0x94000000, NOP };
    struct sfb_entries entries = { .program = AT(2) };

    put(start, 16);
    for (unsigned i = 0; i < 16; i++)
        cr_expect(
            eq(int, sfb_arch_is_outermost(&entries, &fake, AT(i), SFB_FRAME_PC), i >= 2 && i <= 13),
            "pc %u", i);
    cr_expect(sfb_arch_is_outermost(&entries, &fake, AT(14), SFB_FRAME_RA));
    cr_expect(not(sfb_arch_is_outermost(&entries, &fake, AT(2), SFB_FRAME_RA)));
    cr_expect(not(sfb_arch_is_outermost(&entries, &fake, AT(15), SFB_FRAME_RA)));

    /* Another entry: its first instruction alone is known to have no caller. */
    code[14] = NOP;
    cr_expect(sfb_arch_is_outermost(&entries, &fake, AT(2), SFB_FRAME_PC));
    cr_expect(not(sfb_arch_is_outermost(&entries, &fake, AT(14), SFB_FRAME_RA)));
    entries.program = 0;
    cr_expect(not(sfb_arch_is_outermost(&entries, &fake, AT(2), SFB_FRAME_PC)));
}
