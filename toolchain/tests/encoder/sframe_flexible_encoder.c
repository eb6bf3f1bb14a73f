/*
 * Rules of version 3 alone, written by the encoder of `sfb synth` and read by the library: rows
 * that name registers and load words, outermost frames, signal frames, far code.
 */
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "toolchain/synth/sframe_encoder.h"

#define ADDRESS      UINT64_C(0x40000)
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SAVED(w, r, o)                                                                             \
    {                                                                                              \
        .where = (w), .reg = (r), .offset = (o)                                                    \
    }

enum { RBX = 3, RDX = 1, R10 = 10, RBP = 6, X15 = 15, X19 = 19 };

/* A section of one function under construction, and its bytes. */
struct made {
    uint8_t *bytes;
    size_t size;
    struct sfb_section section;
};

static struct made make(enum sfb_abi abi, uint64_t start, const struct synth_row *rows,
                        uint32_t count)
{
    const struct synth_function f = { start, 0x40, count, rows, SFB_FDE_PCINC };
    struct synth_encoder e;
    struct made m = { .bytes = NULL };

    synth_encoder_init(&e, 3, abi, ADDRESS);
    cr_assert(synth_encoder_add(&e, &f));
    cr_assert(synth_encoder_finish(&e, &m.bytes, &m.size, NULL));
    synth_encoder_free(&e);
    cr_assert(eq(int, sfb_section_open(&m.section, m.bytes, m.size, ADDRESS, NULL), SFB_OK));
    return m;
}

static void expect_rule(const struct made *m, uint64_t pc, const struct sfb_rule *want)
{
    struct sfb_rule got = { .flags = 0 };
    enum sfb_status status = sfb_section_find(&m->section, pc, &got, NULL);

    cr_expect(eq(int, status, SFB_OK), "0x%lx", pc);
    cr_expect(memcmp(&got, want, sizeof got) == 0, "0x%lx: cfa %d %d%+d flags 0x%x ra %d fp %d", pc,
              got.cfa_base, got.cfa_reg, got.cfa_offset, got.flags, got.ra.where, got.fp.where);
}

/* The rows of binutils' gas for the same function: docs/FORMATS.md, E1, E6, D24. */
Test(sframe_flexible_encoder, writes_these_very_bytes)
{
    static const uint8_t want[] = {
        0xe2, 0xde, 3,    5,    3,    0,    0xf8, 0,    /* sorted, starts relative to their field */
        1,    0,    0,    0,    4,    0,    0,    0,    /* functions, rows */
        26,   0,    0,    0,    0,    0,    0,    0,    /* bytes of rows, offset of entries */
        16,   0,    0,    0,                            /* offset of rows */
        0xe4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* 28 before the field */
        0x40, 0,    0,    0,    0,    0,    0,    0,    /* bytes, attribute */
        4,    0,    0,    1,    0,                      /* rows, ADDR1, flexible, no repetition */
        0,    0x04, 0x39, 8,                            /* CFA = rsp+8 */
        1,    0x0a, 0x39, 16,   0,    2,    0xf0,       /* ..., RA's padding, fp at CFA-16 */
        5,    0x0c, 0x31, 16,   0x19, 0,    2,    0xf0, /* rbp+16, RA = rbx+0, fp at CFA-16 */
        6,    0,                                        /* RA undefined */
    };
    const struct synth_row rows[] = {
        { 0, { .cfa_offset = 8, .ra = SAVED(SFB_WHERE_CFA, 0, -8) } },
        { 1,
          { .cfa_offset = 16,
            .ra = SAVED(SFB_WHERE_CFA, 0, -8),
            .fp = SAVED(SFB_WHERE_CFA, 0, -16) } },
        { 5,
          { .cfa_base = SFB_BASE_FP,
            .flags = SFB_RULE_ANY_REGISTER,
            .cfa_offset = 16,
            .ra = SAVED(SFB_WHERE_IS_REG, RBX, 0),
            .fp = SAVED(SFB_WHERE_CFA, 0, -16) } },
        { 6, { .flags = SFB_RULE_OUTERMOST } },
    };
    struct made m = make(SFB_ABI_AMD64_LE, ADDRESS, rows, COUNT(rows));

    cr_assert(eq(sz, m.size, sizeof want));
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_rule(&m, ADDRESS + rows[i].start, &rows[i].rule);
    for (size_t i = 0; i < m.size; i++)
        cr_expect(eq(int, m.bytes[i], want[i]), "byte %zu", i);
    free(m.bytes);
}

/* Each as the second row of a function that is also a signal frame, and far away. */
Test(sframe_flexible_encoder, writes_what_the_reader_understands)
{
    static const struct sfb_saved ra[] = {
        SAVED(SFB_WHERE_CFA, 0, -16),      SAVED(SFB_WHERE_CFA, 0, -40000),
        SAVED(SFB_WHERE_AT_REG, 7, 168),   SAVED(SFB_WHERE_IS_REG, RDX, 0),
        SAVED(SFB_WHERE_IS_REG, X15, 128), SAVED(SFB_WHERE_AT_REG, 255, -1),
    };
    static const struct sfb_saved fp[] = { { .where = SFB_WHERE_UNSAVED },
                                           SAVED(SFB_WHERE_CFA, 0, -16),
                                           SAVED(SFB_WHERE_AT_REG, RBP, 0),
                                           SAVED(SFB_WHERE_IS_REG, X19, -70000) };
    static const int32_t offsets[] = { 0, 8, -8, 127, 128, 40000, INT32_MIN, INT32_MAX };
    static const enum sfb_abi abis[] = { SFB_ABI_AMD64_LE, SFB_ABI_AARCH64_LE, SFB_ABI_AARCH64_BE };

    for (size_t n = 0; n < COUNT(abis) * COUNT(ra) * COUNT(fp) * COUNT(offsets) * 6; n++) {
        size_t rest = n;
        const enum sfb_abi abi = abis[rest % COUNT(abis)];
        const struct sfb_saved *r = &ra[(rest /= COUNT(abis)) % COUNT(ra)];
        const struct sfb_saved *f = &fp[(rest /= COUNT(ra)) % COUNT(fp)];
        const int32_t offset = offsets[(rest /= COUNT(fp)) % COUNT(offsets)];
        const size_t kind = rest / COUNT(offsets);
        const struct sfb_saved usual = { .where = abi == SFB_ABI_AMD64_LE ? SFB_WHERE_CFA
                                                                          : SFB_WHERE_UNSAVED,
                                         .offset = abi == SFB_ABI_AMD64_LE ? -8 : 0 };
        struct sfb_rule rule = { .cfa_base = (uint8_t)(kind % 3), .cfa_offset = offset, .fp = *f };
        struct synth_row rows[2] = { { 0, { .cfa_offset = 8, .ra = usual } } };
        struct made m;

        rule.ra = kind == 1 || kind == 5 ? usual : *r;
        rule.cfa_reg = rule.cfa_base == SFB_BASE_REG ? R10 : 0;
        rule.flags = kind > 2 ? SFB_RULE_CFA_DEREF : 0;
        if (synth_inexpressible_in(3, abi, &rule))
            continue;
        if (synth_inexpressible(abi, &rule) &&
            (rule.ra.where > SFB_WHERE_CFA || kind > 1 || rule.fp.where > SFB_WHERE_CFA))
            rule.flags |= SFB_RULE_ANY_REGISTER;
        rule.flags |= n % 2 ? SFB_RULE_SIGNAL : 0;
        rows[0].rule.flags = rule.flags & SFB_RULE_SIGNAL;
        rows[1] = (struct synth_row){ 0x20, rule };
        m = make(abi, ADDRESS + (UINT64_C(1) << (n % 63)), rows, 2);
        expect_rule(&m, ADDRESS + (UINT64_C(1) << (n % 63)) + 0x1f, &rows[0].rule);
        expect_rule(&m, ADDRESS + (UINT64_C(1) << (n % 63)) + 0x3f, &rows[1].rule);
        free(m.bytes);
    }
}

Test(sframe_flexible_encoder, says_what_cannot_be_expressed)
{
    static const struct {
        const char *reason; /* NULL: expressible */
        struct sfb_rule rule;
    } cases[] = {
        { NULL, { .flags = SFB_RULE_OUTERMOST | SFB_RULE_SIGNAL } },
        { NULL,
          { .flags = SFB_RULE_SIGNAL | SFB_RULE_CFA_DEREF,
            .cfa_offset = 160,
            .ra = SAVED(SFB_WHERE_AT_REG, 7, 168),
            .fp = SAVED(SFB_WHERE_AT_REG, 7, 120),
            .sp = SAVED(SFB_WHERE_AT_REG, 7, 160) } },
        { NULL, { .cfa_offset = 16, .ra = SAVED(SFB_WHERE_CFA, 0, -8), .sp = SAVED(2, 0, 0) } },
        { "sp has a rule of its own",
          { .cfa_offset = 16, .ra = SAVED(SFB_WHERE_CFA, 0, -8), .sp = SAVED(2, 0, 8) } },
        { "sp has a rule of its own",
          { .flags = SFB_RULE_CFA_DEREF,
            .cfa_offset = 160,
            .ra = SAVED(SFB_WHERE_CFA, 0, -8),
            .sp = SAVED(SFB_WHERE_AT_REG, 7, 152) } },
        { "the CFA is a word in memory and a number",
          { .flags = SFB_RULE_CFA_DEREF, .cfa_add = 8, .ra = SAVED(SFB_WHERE_CFA, 0, -8) } },
        { "the CFA lies inside of the frame",
          { .cfa_offset = 0, .ra = SAVED(SFB_WHERE_CFA, 0, -8) } },
        { NULL, { .cfa_offset = 0, .ra = SAVED(SFB_WHERE_IS_REG, RDX, 0) } },
        { "the return address is the CFA and a number",
          { .cfa_offset = 16, .ra = SAVED(SFB_WHERE_IS_CFA, 0, -8) } },
        { "fp is the CFA and a number",
          { .cfa_offset = 16,
            .ra = SAVED(SFB_WHERE_CFA, 0, -8),
            .fp = SAVED(SFB_WHERE_IS_CFA, 0, -16) } },
        { "the return address was never pushed", { .cfa_offset = 16 } },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *reason = synth_inexpressible_in(3, SFB_ABI_AMD64_LE, &cases[i].rule);

        if (cases[i].reason)
            cr_expect(reason && strcmp(reason, cases[i].reason) == 0, "%zu: %s", i,
                      reason ? reason : "can be");
        else
            cr_expect(reason == NULL, "%zu: %s", i, reason);
    }
}

/* The key is the function's; the outermost row, the first one here, does not state it. */
Test(sframe_flexible_encoder, keeps_key_and_signature)
{
    const struct synth_row rows[] = {
        { 0, { .flags = SFB_RULE_OUTERMOST } },
        { 4,
          { .cfa_offset = 32,
            .flags = SFB_RULE_RA_KEY_B | SFB_RULE_RA_SIGNED | SFB_RULE_SIGNAL,
            .fp = SAVED(SFB_WHERE_CFA, 0, -32) } },
    };
    struct made m = make(SFB_ABI_AARCH64_LE, ADDRESS, rows, COUNT(rows));

    expect_rule(&m, ADDRESS + 3, &rows[0].rule);
    expect_rule(&m, ADDRESS + 4, &rows[1].rule);
    free(m.bytes);
}
