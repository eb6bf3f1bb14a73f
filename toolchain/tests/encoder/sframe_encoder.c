/*
 * The encoder of `sfb synth` against the library's reader, which are independent: neither includes
 * the other's constants. Sections of fixed bytes follow the specification's tables.
 */
#include "toolchain/synth/sframe_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define ADDRESS UINT64_C(0x40000)

static const enum sfb_abi abis[] = { SFB_ABI_AMD64_LE, SFB_ABI_AARCH64_LE, SFB_ABI_AARCH64_BE };

static const struct sframe_format formats[] = {
    { 1, SFB_ABI_AMD64_LE }, { 1, SFB_ABI_AARCH64_LE }, { 1, SFB_ABI_AARCH64_BE },
    { 2, SFB_ABI_AMD64_LE }, { 2, SFB_ABI_AARCH64_LE }, { 2, SFB_ABI_AARCH64_BE },
    { 3, SFB_ABI_AMD64_LE }, { 3, SFB_ABI_AARCH64_LE }, { 3, SFB_ABI_AARCH64_BE },
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A rule in the reader's form. */
static struct sfb_rule rule(enum sfb_abi abi, enum sfb_base base, int32_t cfa)
{
    struct sfb_rule r = { .cfa_base = (uint8_t)base, .cfa_offset = cfa };

    if (abi == SFB_ABI_AMD64_LE) {
        r.ra.where = SFB_WHERE_CFA;
        r.ra.offset = -8;
    }
    return r;
}

static struct sfb_rule rule_ra(struct sfb_rule r, int32_t offset)
{
    r.ra.where = SFB_WHERE_CFA;
    r.ra.offset = offset;
    return r;
}

static struct sfb_rule rule_fp(struct sfb_rule r, int32_t offset)
{
    r.fp.where = SFB_WHERE_CFA;
    r.fp.offset = offset;
    return r;
}

/* A section under construction, and its bytes. */
struct made {
    uint8_t *bytes;
    size_t size;
    uint32_t rows;
    struct sfb_section section;
};

static struct made finish(struct synth_encoder *e)
{
    struct made m = { .bytes = NULL };

    cr_assert(synth_encoder_finish(e, &m.bytes, &m.size, &m.rows));
    synth_encoder_free(e);
    cr_assert(eq(int, sfb_section_open(&m.section, m.bytes, m.size, ADDRESS, NULL), SFB_OK));
    cr_expect(eq(sz, m.section.size, m.size));
    cr_expect(eq(u32, m.section.fre_count, m.rows));
    cr_expect(eq(int, m.section.flags,
                 m.section.version == 3 ? SFB_SECTION_FDE_SORTED | SFB_SECTION_FIELD_RELATIVE
                                        : SFB_SECTION_FDE_SORTED));
    return m;
}

static void add(struct synth_encoder *e, uint64_t start, uint32_t size,
                const struct synth_row *rows, uint32_t count)
{
    const struct synth_function f = { start, size, count, rows, SFB_FDE_PCINC };

    cr_assert(synth_encoder_add(e, &f));
}

static void expect_rule(const struct made *m, uint64_t pc, const struct sfb_rule *want)
{
    struct sfb_rule got;
    enum sfb_status status = sfb_section_find(&m->section, pc, &got, NULL);

    cr_expect(eq(int, status, SFB_OK), "0x%lx", pc);
    cr_expect(status == SFB_OK && memcmp(&got, want, sizeof got) == 0, "0x%lx: cfa %d%+d", pc,
              got.cfa_base, got.cfa_offset);
}

Test(sframe_encoder, writes_these_very_bytes)
{
    static const uint8_t want[] = {
        0xe2, 0xde, 1,  1,    3,    0, 0xf8, 0, /* magic, version, sorted, AMD64, fp, RA, aux */
        1,    0,    0,  0,    3,    0, 0,    0, /* functions, rows */
        11,   0,    0,  0,    0,    0, 0,    0, /* bytes of rows, offset of entries */
        17,   0,    0,  0,                      /* offset of rows */
        0,    0x10, 0,  0,    0x40, 1, 0,    0, /* 0x1000 behind the section, 0x140 bytes */
        0,    0,    0,  0,    3,    0, 0,    0, /* first row, 3 rows */
        0,                                      /* starts of 1 byte, PCINC */
        0,    3,    8,                          /* sp+8 */
        1,    5,    16, 0xf0,                   /* sp+16, fp at c-16 */
        4,    0x04, 16, 0xf0,                   /* fp+16 */
    };
    const struct sfb_rule sp8 = rule(SFB_ABI_AMD64_LE, SFB_BASE_SP, 8);
    const struct synth_row rows[] = {
        { 0, sp8 },
        { 1, rule_fp(rule(SFB_ABI_AMD64_LE, SFB_BASE_SP, 16), -16) },
        { 4, rule_fp(rule(SFB_ABI_AMD64_LE, SFB_BASE_FP, 16), -16) },
    };
    struct synth_encoder e;
    struct made m;

    synth_encoder_init(&e, 1, SFB_ABI_AMD64_LE, ADDRESS);
    add(&e, ADDRESS + 0x1000, 0x140, rows, 3);
    m = finish(&e);
    cr_assert(eq(sz, m.size, sizeof want));
    for (size_t i = 0; i < sizeof want; i++)
        cr_expect(eq(int, m.bytes[i], want[i]), "byte %zu", i);
    free(m.bytes);
}

Test(sframe_encoder, writes_rows_that_the_reader_understands)
{
    static const int32_t offsets[] = { -8,    -128,   -129,    -32768,  -32769, INT32_MIN,
                                       -2048, -65536, -524288, -100000, -127,   -16 };
    static const int32_t cfas[] = { 8, 16, 127, 128, 32767, 32768, 1 << 20, INT32_MAX };

    for (size_t a = 0; a < COUNT(formats); a++) {
        struct sfb_rule rules[512];
        struct synth_encoder e;
        struct made m;
        size_t count = 0;

        for (size_t i = 0; i < COUNT(offsets); i++) {
            for (size_t j = 0; j < COUNT(cfas); j++) {
                struct sfb_rule r =
                    rule(formats[a].abi, (i + j) % 2 ? SFB_BASE_SP : SFB_BASE_FP, cfas[j]);

                if (formats[a].abi != SFB_ABI_AMD64_LE) {
                    rules[count++] = rule_ra(r, offsets[i]);
                    r = rule_ra(r, offsets[COUNT(offsets) - 1 - i]);
                    r.flags = j % 3 == 0 ? SFB_RULE_RA_SIGNED : 0;
                }
                rules[count++] = rule_fp(r, offsets[i]);
            }
        }
        rules[count++] = rule(formats[a].abi, SFB_BASE_SP, 8);
        rules[count++] = rule(formats[a].abi, SFB_BASE_FP, -48);
        cr_assert(lt(sz, count, COUNT(rules)));
        synth_encoder_init(&e, formats[a].version, formats[a].abi, ADDRESS);
        for (size_t i = 0; i < count; i++) {
            const struct synth_row row = { 0, rules[i] };

            cr_expect(synth_inexpressible(formats[a].abi, &rules[i]) == NULL);
            add(&e, ADDRESS - 0x10000 + 16 * i, 16, &row, 1);
        }
        m = finish(&e);
        for (size_t i = 0; i < count; i++)
            for (uint64_t byte = 0; byte < 16; byte += 15)
                expect_rule(&m, ADDRESS - 0x10000 + 16 * i + byte, &rules[i]);
        free(m.bytes);
    }
}

/* 1.3.1: the key is the function's, so it holds for each of its rows. */
Test(sframe_encoder, keeps_key_and_signature)
{
    for (size_t a = 0; a < COUNT(formats); a++) {
        struct synth_row rows[2] = { { 0, rule(formats[a].abi, SFB_BASE_SP, 0) },
                                     { 4, rule_ra(rule(formats[a].abi, SFB_BASE_SP, 32), -24) } };
        struct synth_encoder e;
        struct made m;

        if (formats[a].abi == SFB_ABI_AMD64_LE)
            continue;
        rows[0].rule.flags = SFB_RULE_RA_KEY_B;
        rows[1].rule.flags = SFB_RULE_RA_KEY_B | SFB_RULE_RA_SIGNED;
        synth_encoder_init(&e, formats[a].version, formats[a].abi, ADDRESS);
        add(&e, ADDRESS + 64, 8, rows, 2);
        m = finish(&e);
        expect_rule(&m, ADDRESS + 64, &rows[0].rule);
        expect_rule(&m, ADDRESS + 68, &rows[1].rule);
        free(m.bytes);
    }
}

Test(sframe_encoder, takes_as_many_bytes_for_starts_as_the_last_one_needs)
{
    static const struct {
        uint32_t start;
        enum sfb_fre_type type;
    } cases[] = { { 0, SFB_FRE_ADDR1 },     { 255, SFB_FRE_ADDR1 },   { 256, SFB_FRE_ADDR2 },
                  { 65535, SFB_FRE_ADDR2 }, { 65536, SFB_FRE_ADDR4 }, { 1u << 30, SFB_FRE_ADDR4 } };

    for (size_t a = 0; a < COUNT(formats); a++) {
        for (size_t i = 0; i < COUNT(cases); i++) {
            const struct synth_row rows[2] = { { 0, rule(formats[a].abi, SFB_BASE_SP, 8) },
                                               { cases[i].start,
                                                 rule(formats[a].abi, SFB_BASE_SP, 16) } };
            const uint64_t start = ADDRESS + 0x100;
            struct synth_encoder e;
            struct sfb_fde fde;
            struct made m;

            synth_encoder_init(&e, formats[a].version, formats[a].abi, ADDRESS);
            add(&e, start, (1u << 30) + 1, rows, cases[i].start ? 2 : 1);
            m = finish(&e);
            cr_assert(eq(int, sfb_fde_read(&m.section, 0, &fde, NULL), SFB_OK));
            cr_expect(eq(int, fde.fre_type, cases[i].type), "%u", cases[i].start);
            if (cases[i].start > 0) {
                expect_rule(&m, start + cases[i].start - 1, &rows[0].rule);
                expect_rule(&m, start + cases[i].start, &rows[1].rule);
            }
            free(m.bytes);
        }
    }
}

/* libsframe swaps rows of the other byte order in place: shared ones twice. */
Test(sframe_encoder, shares_rows_but_in_big_endian)
{
    for (size_t a = 0; a < COUNT(formats); a++) {
        const struct synth_row rows[3] = { { 0, rule(formats[a].abi, SFB_BASE_SP, 8) },
                                           { 1, rule(formats[a].abi, SFB_BASE_SP, 16) },
                                           { 9, rule(formats[a].abi, SFB_BASE_SP, 4096) } };
        const struct synth_row other[2] = { rows[0], { 2, rows[1].rule } };
        const bool shares = formats[a].abi != SFB_ABI_AARCH64_BE;
        const bool v3 = formats[a].version == 3; /* counts rows where they are stored */
        const uint32_t attributes = v3 ? (shares ? 4 : 5) * 5 : 0;
        struct synth_encoder e;
        struct made m;

        synth_encoder_init(&e, formats[a].version, formats[a].abi, ADDRESS);
        add(&e, ADDRESS + 0x00, 16, rows, 2); /* the first rows of the next one */
        add(&e, ADDRESS + 0x10, 32, rows, 3);
        add(&e, ADDRESS + 0x40, 7, rows, 2);   /* the same as the first */
        add(&e, ADDRESS + 0x50, 16, other, 2); /* another start */
        add(&e, ADDRESS + 0x60, 1, rows, 1);   /* the first row of all */
        m = finish(&e);
        cr_expect(eq(u32, m.rows, !shares ? 10 : v3 ? 8 : 5));
        cr_expect(eq(u32, m.section.fre_size - attributes,
                     !shares ? 2 * 3 + 10 + 2 * 6 + 3
                     : v3    ? 6 + 10 + 6 + 3
                             : 2 * 6 + 4));
        expect_rule(&m, ADDRESS + 0x0f, &rows[1].rule);
        expect_rule(&m, ADDRESS + 0x2f, &rows[2].rule);
        expect_rule(&m, ADDRESS + 0x46, &rows[1].rule);
        expect_rule(&m, ADDRESS + 0x51, &rows[0].rule);
        expect_rule(&m, ADDRESS + 0x52, &rows[1].rule);
        expect_rule(&m, ADDRESS + 0x60, &rows[0].rule);
        free(m.bytes);
    }
}

Test(sframe_encoder, repeats_the_rows_of_a_linkage_table)
{
    const struct synth_row rows[2] = { { 0, rule(SFB_ABI_AMD64_LE, SFB_BASE_SP, 8) },
                                       { 11, rule(SFB_ABI_AMD64_LE, SFB_BASE_SP, 16) } };
    const struct synth_function f = { ADDRESS - 0x1000, 16 * 40, 2, rows, SFB_FDE_PCMASK };

    for (unsigned version = 1; version <= 3; version++) {
        struct synth_encoder e;
        struct made m;

        synth_encoder_init(&e, version, SFB_ABI_AMD64_LE, ADDRESS);
        cr_assert(synth_encoder_add(&e, &f));
        m = finish(&e);
        for (uint64_t byte = 0; byte < f.size; byte++)
            expect_rule(&m, f.start + byte, &rows[byte % 16 >= 11].rule);
        free(m.bytes);
    }
}

Test(sframe_encoder, says_what_cannot_be_expressed)
{
    static const struct {
        const char *reason; /* its beginning; NULL: expressible */
        struct sfb_rule change;
        bool amd64, aarch64; /* the machines for which it holds */
    } cases[] = {
        { "the return address is undefined", { .flags = SFB_RULE_OUTERMOST }, true, true },
        { "a signal frame", { .flags = SFB_RULE_SIGNAL, .cfa_offset = 16 }, true, true },
        { "the CFA is a word in memory",
          { .flags = SFB_RULE_CFA_DEREF, .cfa_offset = -8, .cfa_base = SFB_BASE_FP },
          true,
          true },
        { "the CFA is counted from a register",
          { .cfa_base = SFB_BASE_REG, .cfa_reg = 10 },
          true,
          true },
        { "the CFA lies inside of the frame", { .cfa_offset = -8 }, true, true },
        { "the CFA lies inside of the frame", { .cfa_offset = 0 }, true, false },
        { "sp has a rule of its own",
          { .cfa_offset = 16, .sp.where = SFB_WHERE_IS_REG },
          true,
          true },
        { "the return address is not at CFA-8",
          { .cfa_offset = 16, .ra.where = SFB_WHERE_CFA, .ra.offset = -16 },
          true,
          false },
        { "the return address is n",
          { .cfa_offset = 16, .ra.where = SFB_WHERE_IS_REG },
          true,
          true },
        { "fp is saved neither", { .cfa_offset = 16, .fp.where = SFB_WHERE_AT_REG }, true, true },
        { "fp is saved and the return address is not",
          { .cfa_offset = 16, .fp.where = SFB_WHERE_CFA, .fp.offset = -16 },
          false,
          true },
    };

    for (size_t a = 0; a < COUNT(abis); a++) {
        const bool amd64 = abis[a] == SFB_ABI_AMD64_LE;

        for (size_t i = 0; i < COUNT(cases); i++) {
            struct sfb_rule r = cases[i].change;
            const char *reason;

            if (amd64 && r.ra.where == SFB_WHERE_UNSAVED) {
                r.ra.where = SFB_WHERE_CFA;
                r.ra.offset = -8;
            }
            reason = synth_inexpressible(abis[a], &r);
            if (amd64 ? cases[i].amd64 : cases[i].aarch64)
                cr_expect(reason != NULL &&
                              strncmp(reason, cases[i].reason, strlen(cases[i].reason)) == 0,
                          "%zu: %s", i, reason ? reason : "can be");
            else
                cr_expect(reason == NULL, "%zu: %s", i, reason);
        }
    }
}

Test(sframe_encoder, reaches_as_far_as_32_bits)
{
    const uint64_t section = UINT64_C(1) << 40;

    cr_expect(synth_in_reach(1, section, section + INT32_MAX));
    cr_expect(not(synth_in_reach(1, section, section + INT32_MAX + 1)));
    cr_expect(synth_in_reach(1, section, section - (UINT64_C(1) << 31)));
    cr_expect(not(synth_in_reach(1, section, section - (UINT64_C(1) << 31) - 1)));
    cr_expect(synth_in_reach(1, 16, UINT64_MAX));
    cr_expect(not(synth_in_reach(2, section, section + INT32_MAX + 1)));
    cr_expect(synth_in_reach(3, section, section + INT32_MAX + 1));
}

Test(sframe_encoder, makes_a_section_of_nothing)
{
    for (size_t a = 0; a < COUNT(formats); a++) {
        struct synth_encoder e;
        struct sfb_rule got;
        struct made m;

        synth_encoder_init(&e, formats[a].version, formats[a].abi, ADDRESS);
        m = finish(&e);
        cr_expect(eq(sz, m.size, 28));
        cr_expect(eq(int, sfb_section_find(&m.section, ADDRESS, &got, NULL), SFB_NO_FDE));
        free(m.bytes);
    }
}

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static struct sfb_rule draw_rule(uint32_t *state, enum sfb_abi abi)
{
    static const int32_t scale[] = { 1, 8, 8, 8, 400, 70000 };
    struct sfb_rule r = rule(abi, draw(state, 2) ? SFB_BASE_SP : SFB_BASE_FP,
                             8 + (int32_t)draw(state, 20) * scale[draw(state, COUNT(scale))]);

    if (abi != SFB_ABI_AMD64_LE && draw(state, 2))
        r = rule_ra(r, -(int32_t)draw(state, 20) * scale[draw(state, COUNT(scale))]);
    if (draw(state, 2) && r.ra.where == SFB_WHERE_CFA)
        r = rule_fp(r, -(int32_t)draw(state, 20) * scale[draw(state, COUNT(scale))]);
    return r;
}

enum { FUNCTIONS = 1500, ROWS_MAX = 12 };

/*
 * Functions of every kind, many of them alike, some with gaps between them: each byte is compared.
 */
Test(sframe_encoder, and_the_reader_agree_on_every_byte_of_random_functions)
{
    static struct synth_row rows[FUNCTIONS][ROWS_MAX];
    static struct synth_function functions[FUNCTIONS];

    for (size_t a = 0; a < COUNT(formats); a++) {
        uint32_t state = 1;
        uint64_t at = ADDRESS - 0x20000;
        struct synth_encoder e;
        struct sfb_rule got;
        struct made m;

        synth_encoder_init(&e, formats[a].version, formats[a].abi, ADDRESS);
        for (size_t i = 0; i < FUNCTIONS; i++) {
            struct synth_function *f = &functions[i];
            uint32_t rules = draw(&state, 40);

            *f = (struct synth_function){ .start = at, .rows = rows[i] };
            f->row_count = 1 + draw(&state, ROWS_MAX - 1);
            for (uint32_t row = 0; row < f->row_count; row++) {
                rows[i][row].start = f->size;
                rows[i][row].rule = draw_rule(&rules, formats[a].abi);
                f->size += 1 + draw(&rules, draw(&state, 9) ? 4 : 300);
            }
            cr_assert(synth_encoder_add(&e, f));
            at += f->size + (draw(&state, 2) ? 0 : draw(&state, 16));
        }
        m = finish(&e);
        for (size_t i = 0; i < FUNCTIONS; i++) {
            const struct synth_function *f = &functions[i];
            const uint64_t next = i + 1 < FUNCTIONS ? functions[i + 1].start : f->start + f->size;
            uint32_t row = 0;

            for (uint32_t byte = 0; byte < f->size; byte++) {
                row += row + 1 < f->row_count && f->rows[row + 1].start == byte;
                expect_rule(&m, f->start + byte, &f->rows[row].rule);
            }
            for (uint64_t pc = f->start + f->size; pc < next; pc++)
                cr_expect(eq(int, sfb_section_find(&m.section, pc, &got, NULL), SFB_NO_FDE));
        }
        free(m.bytes);
    }
}
