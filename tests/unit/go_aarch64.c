/* Go's asyncPreempt on AArch64, as its compiler writes it, and with one thing wrong in it. */
#include <string.h>

#include "support/test.h"
#include "unwind/machine/go.h"

#define BASE  0x400000u
#define WORDS 96u

enum { PAIRS = 12, VECTORS = 16, SPACE = 0x1f0, HEAD = 2, SAVE = HEAD + 5, END = 5 };

static uint32_t code[WORDS];
static unsigned call_at, end_at; /* words */

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

static struct sfb_memory code_memory = { .read = read_fake };

/* stp of two registers, or ldp with bit 22 set, and [sp, #offset] */
static uint32_t pair(uint32_t insn, unsigned reg, unsigned offset)
{
    return insn | 31 << 5 | reg | (reg + 1) << 10 | offset / 8 << 15;
}

static void put_preempt(void)
{
    const uint32_t stp = 0xa9000000, stp_d = 0x6d000000, load = 1 << 22;
    static const uint32_t head[] = { 0x580009db /* ldr x27 */, 0xf83b6bfe /* str x30, [sp, x27] */,
                                     0xd107c3ff /* sub sp, sp, #0x1f0 */,
                                     0xf81f83fd /* stur x29, [sp, #-8] */,
                                     0xd10023fd /* sub x29, sp, #8 */ };
    static const uint32_t flags[] = { 0xd53b4200 /* mrs x0, nzcv */, 0xf9006fe0 /* str x0 */,
                                      0xd53b4420 /* mrs x0, fpsr */, 0xf90073e0 };
    static const uint32_t flags_back[] = { 0xf94073e0 /* ldr x0 */, 0xd51b4420 /* msr fpsr, x0 */,
                                           0xf9406fe0, 0xd51b4200 };
    static const uint32_t end[] = { 0xf940fbfe /* ldr x30, [sp, #496] */,
                                    0xf85f83fd /* ldur x29, [sp, #-8] */,
                                    0xf94003fb /* ldr x27, [sp] */,
                                    0x910803ff /* add sp, sp, #0x200 */, 0xd61f0360 /* br x27 */ };
    unsigned n = SAVE;

    memset(code, 0, sizeof code);
    memcpy(code + HEAD, head, sizeof head);
    for (unsigned i = 0; i < PAIRS; i++)
        code[n++] = pair(stp, 2 * i, 8 + 16 * i);
    memcpy(code + n, flags, sizeof flags);
    n += 4;
    for (unsigned i = 0; i < VECTORS; i++)
        code[n++] = pair(stp_d, 2 * i, 232 + 16 * i);
    call_at = n;
    code[n++] = 0x9400031e; /* bl */
    for (unsigned i = VECTORS; i-- > 0;)
        code[n++] = pair(stp_d | load, 2 * i, 232 + 16 * i);
    memcpy(code + n, flags_back, sizeof flags_back);
    n += 4;
    for (unsigned i = PAIRS; i-- > 0;)
        code[n++] = pair(stp | load, 2 * i, 8 + 16 * i);
    end_at = n;
    memcpy(code + n, end, sizeof end);
}

static bool find(unsigned word, enum sfb_frame_kind kind, struct sfb_go_preempt *out)
{
    return sfb_arch_find_preempt(&code_memory, BASE + 4 * (uint64_t)word, kind, out);
}

static void expect_rule(unsigned word, enum sfb_frame_kind kind, enum sfb_base base, int32_t cfa,
                        bool ra_stored, bool fp_stored, const char *what)
{
    struct sfb_go_preempt p;

    cr_assert(find(word, kind, &p), "%s", what);
    cr_expect(eq(int, p.rule.cfa_base, base), "%s", what);
    cr_expect(eq(i32, p.rule.cfa_offset, cfa), "%s", what);
    cr_expect(eq(int, p.rule.ra.where, ra_stored ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED), "%s", what);
    cr_expect(eq(int, p.rule.ra.offset, ra_stored ? -SPACE - 16 : 0), "%s", what);
    cr_expect(eq(int, p.rule.fp.where, fp_stored ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED), "%s", what);
    cr_expect(eq(int, p.rule.fp.offset, fp_stored ? -SPACE - 24 : 0), "%s", what);
    cr_expect(eq(i32, p.lr_offset, -16), "%s", what);
}

Test(arch_go, knows_the_frame_of_async_preempt_at_each_of_its_parts)
{
    enum { ALL = SPACE + 16 };

    put_preempt();
    expect_rule(HEAD, SFB_FRAME_PC, SFB_BASE_SP, 16, false, false, "ldr x27");
    expect_rule(HEAD + 1, SFB_FRAME_PC, SFB_BASE_SP, 16, false, false, "str x30");
    expect_rule(HEAD + 2, SFB_FRAME_PC, SFB_BASE_SP, 16, false, false, "sub sp");
    expect_rule(HEAD + 3, SFB_FRAME_PC, SFB_BASE_SP, ALL, true, false, "stur x29");
    expect_rule(HEAD + 4, SFB_FRAME_PC, SFB_BASE_SP, ALL, true, true, "sub x29");
    expect_rule(SAVE, SFB_FRAME_PC, SFB_BASE_SP, ALL, true, true, "stp");
    expect_rule(call_at, SFB_FRAME_PC, SFB_BASE_SP, ALL, true, true, "bl");
    expect_rule(call_at + 1, SFB_FRAME_PC, SFB_BASE_SP, ALL, true, true, "interrupted behind bl");
    expect_rule(call_at + 1, SFB_FRAME_RA, SFB_BASE_FP, ALL + 8, true, true, "behind bl");
    expect_rule(end_at, SFB_FRAME_PC, SFB_BASE_SP, ALL, true, true, "ldr x30");
}

Test(arch_go, takes_nothing_else_for_async_preempt)
{
    static const struct {
        const char *name;
        unsigned *part;
        int offset;
        uint32_t insn;
    } cases[] = {
        { "a branch before the end", &call_at, 5, 0x14000001 },
        { "an add of another register", &call_at, 5, 0x91000400 },
        { "a store behind the call", &call_at, 5, 0xa90087e0 },
        { "the link register is not loaded", &end_at, 0, 0xd503201f },
        { "the link register from another place", &end_at, 0, 0xf940f7fe },
        { "fp is not loaded", &end_at, 1, 0xd503201f },
        { "x28 in place of x27", &end_at, 2, 0xf94003fc },
        { "less space is given back", &end_at, 3, 0x9107c3ff },
        { "ret", &end_at, 4, 0xd65f03c0 },
    };
    struct sfb_go_preempt p;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_preempt();
        code[(int)*cases[i].part + cases[i].offset] = cases[i].insn;
        cr_expect(not(find(call_at + 1, SFB_FRAME_RA, &p)), "%s", cases[i].name);
        cr_expect(not(find(SAVE, SFB_FRAME_PC, &p)), "%s", cases[i].name);
    }
    put_preempt();
    cr_expect(not(find(SAVE, SFB_FRAME_RA, &p)), "nothing returns there");
    for (unsigned i = 1; i < END; i++)
        cr_expect(not(find(end_at + i, SFB_FRAME_PC, &p)), "the link register is loaded: %u", i);
    cr_expect(not(find(WORDS, SFB_FRAME_PC, &p)), "unreadable");
}
