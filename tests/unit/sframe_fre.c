/* Frame rows: what is read, what is refused, which one holds, and what it means. */
#include "sfb/section.h"

#include <string.h>

#include "support/guarded.h"
#include "support/section_bytes.h"
#include "support/test.h"

#define RULE(base, ra_in, fp_in, bits, cfa_at, ra_at, fp_at)                                       \
    {                                                                                              \
        .cfa_base = base, .flags = bits, .cfa_offset = cfa_at,                                     \
        .ra = { .where = ra_in, .offset = ra_at }, .fp = {                                         \
            .where = fp_in,                                                                        \
            .offset = fp_at                                                                        \
        }                                                                                          \
    }

#define ADDRESS 0x400000u
#define SP1     ROW_INFO(1, 0, ROW_SP)

/* A section of one function at its own address, and the function. */
struct subject {
    struct bytes bytes;
    struct sfb_section section;
    struct sfb_fde fde;
};

static void make(struct subject *s, const struct layout *layout)
{
    s->bytes = section_bytes(layout);
    cr_assert(
        eq(int, sfb_section_open(&s->section, s->bytes.at, s->bytes.n, ADDRESS, NULL), SFB_OK));
    cr_assert(eq(int, sfb_fde_read(&s->section, 0, &s->fde, NULL), SFB_OK));
}

static void make_rows(struct subject *s, const struct abi_case *c, uint8_t info, uint32_t size,
                      const struct row *rows, uint32_t count)
{
    const struct function function = { 0, size, info, count, rows };
    const struct layout layout = {
        .abi = c->abi, .fixed_ra = c->fixed_ra, .function_count = 1, .functions = &function
    };

    make(s, &layout);
}

/* Every type of row, every size and every number of offsets, with values at their limits. */
Test(fre_read, gives_every_field)
{
    static const uint32_t starts[3] = { UINT8_MAX, UINT16_MAX, UINT32_MAX };
    static const int32_t least[3] = { INT8_MIN, INT16_MIN, INT32_MIN };
    static const int32_t most[3] = { INT8_MAX, INT16_MAX, INT32_MAX };

    for (size_t i = 0; i < 3; i++)
        for (unsigned n = 0; n < 3 * 3 * 3 * 2; n++) {
            const unsigned type = n % 3, log = n / 3 % 3, count = n / 9 % 3 + 1, base = n / 27;
            const bool amd64 = abi_cases[i].abi == SFB_ABI_AMD64_LE;
            const struct row rows[2] = {
                { 0, SP1, { 8 } },
                { starts[type], ROW_INFO(count, log, base), { most[log], least[log], -1 } },
            };
            struct subject s;
            struct sfb_fre r;

            make_rows(&s, &abi_cases[i], (uint8_t)type, 16, rows, 2);
            cr_assert(eq(int, sfb_fre_read(&s.section, &s.fde, 0, &r, NULL), SFB_OK));
            cr_expect(eq(u32, r.size, (1u << type) + 2));
            if (amd64 && count == 3) {
                cr_expect(eq(int, sfb_fre_read(&s.section, &s.fde, r.size, &r, NULL), SFB_BAD_FRE));
                continue;
            }
            cr_assert(eq(int, sfb_fre_read(&s.section, &s.fde, r.size, &r, NULL), SFB_OK));
            cr_expect(eq(u32, r.start, starts[type]));
            cr_expect(eq(u32, r.position, (1u << type) + 2));
            cr_expect(eq(u32, r.size, (1u << type) + 1 + (count << log)));
            cr_expect(eq(u8, r.offset_count, (uint8_t)count));
            cr_expect(eq(i32, r.offset[0], most[log]));
            cr_expect(eq(i32, r.offset[1], count > 1 ? least[log] : 0));
            cr_expect(eq(i32, r.offset[2], count > 2 ? -1 : 0));
            cr_expect(eq(u8, r.cfa_base, base == ROW_SP ? SFB_BASE_SP : SFB_BASE_FP));
            cr_expect(eq(int, r.mangled_ra, false));
        }
}

/* All 256 info words, for each ABI, and for headers that fix fp. */
Test(fre_read, judges_every_info_word)
{
    for (size_t i = 0; i < 6; i++)
        for (unsigned info = 0; info < 256; info++) {
            const struct abi_case *c = &abi_cases[i % 3];
            const bool amd64 = c->abi == SFB_ABI_AMD64_LE, fp_fixed = i >= 3;
            const unsigned count = info >> 1 & 15;
            const unsigned most = (amd64 ? 2u : 3u) - fp_fixed;
            const bool good = count >= 1 && count <= most && (info >> 5 & 3) != 3 &&
                              (!amd64 || (info & 0x80) == 0);
            const struct row row = { 0, SP1, { 16 } };
            const struct function function = { 0, 16, 0, 1, &row };
            const struct layout layout = { .abi = c->abi,
                                           .fixed_ra = c->fixed_ra,
                                           .fixed_fp = fp_fixed ? -16 : 0,
                                           .function_count = 1,
                                           .functions = &function };
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;
            struct sfb_fre r;

            make(&s, &layout);
            s.bytes.at[s.section.fre_offset + 1] = (uint8_t)info;
            s.section.fre_size = 2 + 12;
            cr_expect(
                eq(int, sfb_fre_read(&s.section, &s.fde, 0, &r, &e), good ? SFB_OK : SFB_BAD_FRE),
                "%#x, abi %d", info, c->abi);
            if (good) {
                cr_expect(eq(int, r.mangled_ra, (info & 0x80) != 0));
            } else {
                cr_expect(eq(int, strcmp(e.field, "sfre_info"), 0));
                cr_expect(eq(u64, e.offset, s.section.fre_offset + 1));
                cr_expect(
                    eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS, &r, NULL), SFB_BAD_FRE));
            }
        }
}

/* A row cut at each byte, before a page that cannot be touched. */
Test(fre_read, refuses_rows_that_are_cut)
{
    static const struct row row = { 0, ROW_INFO(2, 2, ROW_FP), { 16, -16 } };
    struct guarded g = guarded_new(1024);

    for (size_t i = 0; i < 3; i++)
        for (uint8_t type = 0; type < 3; type++) {
            struct subject s;
            struct sfb_fre r;

            make_rows(&s, &abi_cases[i], type, 16, &row, 1);
            for (uint32_t cut = 1; cut <= s.section.fre_size; cut++) {
                struct sfb_section less = s.section;

                less.fre_size -= cut;
                less.size -= cut;
                less.data = guarded_copy(&g, s.bytes.at, less.size);
                cr_expect(eq(int, sfb_fre_read(&less, &s.fde, 0, &r, NULL), SFB_TRUNCATED));
                cr_expect(eq(int, sfb_fre_find(&less, &s.fde, ADDRESS, &r, NULL), SFB_TRUNCATED));
            }
            cr_expect(eq(int, sfb_fre_read(&s.section, &s.fde, s.section.fre_size, &r, NULL),
                         SFB_TRUNCATED));
            cr_expect(
                eq(int, sfb_fre_read(&s.section, &s.fde, UINT32_MAX, &r, NULL), SFB_TRUNCATED));
        }
    guarded_free(&g);
}

Test(fre_find, takes_the_last_row_that_has_begun)
{
    static const struct row rows[] = {
        { 4, SP1, { 8 } },  { 6, ROW_INFO(2, 0, ROW_SP), { 16, -16 } },
        { 9, SP1, { 24 } }, { 9, ROW_INFO(1, 1, ROW_SP), { 32 } },
        { 9, SP1, { 40 } }, { 200, ROW_INFO(1, 2, ROW_SP), { 48 } },
    };
    static const struct {
        uint32_t offset;
        int32_t cfa; /* 0: no row */
    } cases[] = { { 0, 0 },  { 3, 0 },   { 4, 8 },    { 5, 8 },    { 6, 16 },  { 8, 16 },
                  { 9, 40 }, { 10, 40 }, { 199, 40 }, { 200, 48 }, { 239, 48 } };

    for (size_t i = 0; i < 3; i++)
        for (uint8_t type = 0; type < 3; type++) {
            struct subject s;

            make_rows(&s, &abi_cases[i], type, 240, rows, 6);
            for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
                struct sfb_fre r = { .start = 0 };

                cr_expect(eq(int,
                             sfb_fre_find(&s.section, &s.fde, ADDRESS + cases[k].offset, &r, NULL),
                             cases[k].cfa == 0 ? SFB_NO_FRE : SFB_OK));
                cr_expect(eq(i32, r.offset[0], cases[k].cfa), "%u", cases[k].offset);
            }
        }
}

Test(fre_find, refuses_a_pc_outside_and_a_function_without_rows)
{
    static const struct row row = { 0, SP1, { 8 } };

    for (size_t i = 0; i < 3; i++) {
        struct subject s;
        struct sfb_fre r;

        make_rows(&s, &abi_cases[i], 0, 16, &row, 1);
        cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + 15, &r, NULL), SFB_OK));
        cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + 16, &r, NULL), SFB_NO_FRE));
        cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS - 1, &r, NULL), SFB_NO_FRE));
        cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + (UINT64_C(1) << 32), &r, NULL),
                     SFB_NO_FRE));
        make_rows(&s, &abi_cases[i], 0, 16, NULL, 0);
        cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS, &r, NULL), SFB_NO_FRE));
    }
}

/* The plt1... entry of ld 2.40: "push" ends at byte 11 of 16. */
Test(fre_find, counts_modulo_16_in_pcmask_functions)
{
    static const struct row rows[] = { { 0, SP1, { 8 } }, { 11, SP1, { 16 } } };

    for (uint8_t type = 0; type < 3; type++) {
        struct subject s;

        make_rows(&s, &abi_cases[2], 0x10 | type, 5 * 16, rows, 2);
        for (uint32_t offset = 0; offset < 5 * 16; offset++) {
            struct sfb_fre r;

            cr_assert(
                eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + offset, &r, NULL), SFB_OK));
            cr_expect(eq(i32, r.offset[0], offset % 16 < 11 ? 8 : 16), "%u", offset);
        }
    }
}

/* The first row says that it is 14 bytes long, the table has 6: the second would lie behind it. */
Test(fre_find, never_points_behind_the_section)
{
    static const struct row rows[] = { { 0, SP1, { 8 } }, { 4, SP1, { 16 } } };

    for (size_t i = 0; i < 2; i++) {
        struct sfb_error e = { SFB_OK, "", 0 };
        struct subject s;
        struct sfb_fre r;

        make_rows(&s, &abi_cases[i], 0, 16, rows, 2);
        s.bytes.at[s.section.fre_offset + 1] = ROW_INFO(3, 2, ROW_SP);
        cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS, &r, &e), SFB_TRUNCATED));
        cr_expect(eq(int, strcmp(e.field, "sfre_start_address"), 0));
        cr_expect(eq(u64, e.offset, s.section.size));
    }
}

Test(fre_find, refuses_rows_out_of_order)
{
    static const struct row rows[] = {
        { 0, SP1, { 8 } }, { 8, SP1, { 16 } }, { 7, SP1, { 24 } }, { 9, SP1, { 32 } }
    };

    for (size_t i = 0; i < 3; i++)
        for (uint8_t type = 0; type < 3; type++) {
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;
            struct sfb_fre r;

            make_rows(&s, &abi_cases[i], type, 16, rows, 4);
            cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + 8, &r, &e), SFB_BAD_FRE));
            cr_expect(eq(int, strcmp(e.field, "sfre_start_address"), 0));
            cr_expect(eq(u64, e.offset, s.section.fre_offset + 2 * ((1u << type) + 2)));
            /* before 7 the third row is "not yet" whatever it is */
            cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + 6, &r, NULL), SFB_OK));
        }
}

/* Every info word in a row that is passed, laid out so that the row behind it can be read. */
Test(fre_find, judges_the_rows_on_the_way)
{
    for (size_t i = 0; i < 3; i++)
        for (unsigned info = 0; info < 256; info++) {
            const bool amd64 = abi_cases[i].abi == SFB_ABI_AMD64_LE;
            const unsigned count = info >> 1 & 15;
            const bool good = count >= 1 && count <= (amd64 ? 2 : 3) && (info >> 5 & 3) != 3 &&
                              (!amd64 || (info & 0x80) == 0);
            /* the last one makes up for a row that is shorter than a row can be */
            const struct row rows[] = { { 0, SP1, { 8 } },
                                        { 2, (uint8_t)info, { 16 } },
                                        { 4, SP1, { 24 } },
                                        { 6, ROW_INFO(1, 1, ROW_SP), { 32 } } };
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;
            struct sfb_fre r;

            make_rows(&s, &abi_cases[i], 0, 16, rows, 4);
            cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + 1, &r, NULL), SFB_OK));
            cr_expect(eq(int, sfb_fre_find(&s.section, &s.fde, ADDRESS + 5, &r, &e),
                         good ? SFB_OK : SFB_BAD_FRE),
                      "%#x, abi %d", info, abi_cases[i].abi);
            if (good) {
                cr_expect(eq(i32, r.offset[0], 24));
            } else {
                cr_expect(eq(int, strcmp(e.field, "sfre_info"), 0));
                cr_expect(eq(u64, e.offset, s.section.fre_offset + 4));
            }
        }
}

/* A row and its meaning; abi 0 is both AArch64s. */
static const struct {
    const char *name;
    enum sfb_abi abi;
    int8_t fixed_ra, fixed_fp;
    uint8_t function_info;
    struct row row;
    enum sfb_status want;
    struct sfb_rule rule;
} meanings[] = {
    { "AMD64 sp",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(1, 0, ROW_SP), { 8 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_UNSAVED, 0, 8, -8, 0) },
    { "AMD64 sp and fp",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(2, 0, ROW_SP), { 24, -24 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_CFA, 0, 24, -8, -24) },
    { "AMD64 fp",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(2, 0, ROW_FP), { 16, -16 } },
      SFB_OK,
      RULE(SFB_BASE_FP, SFB_WHERE_CFA, SFB_WHERE_CFA, 0, 16, -8, -16) },
    { "AMD64 CFA at sp",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(1, 0, ROW_SP), { 0 } },
      SFB_BAD_FRE,
      { 0 } },
    { "AMD64 CFA in the word at sp",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(1, 0, ROW_SP), { 7 } },
      SFB_BAD_FRE,
      { 0 } },
    { "AMD64 CFA below sp",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(1, 2, ROW_SP), { INT32_MIN } },
      SFB_BAD_FRE,
      { 0 } },
    { "AMD64 CFA below fp",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(1, 0, ROW_FP), { -8 } },
      SFB_OK,
      RULE(SFB_BASE_FP, SFB_WHERE_CFA, SFB_WHERE_UNSAVED, 0, -8, -8, 0) },
    { "AMD64 far away",
      SFB_ABI_AMD64_LE,
      -8,
      0,
      0,
      { 0, ROW_INFO(1, 2, ROW_SP), { INT32_MAX } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_UNSAVED, 0, INT32_MAX, -8, 0) },
    { "AMD64 fixed fp",
      SFB_ABI_AMD64_LE,
      -8,
      -16,
      0,
      { 0, ROW_INFO(1, 0, ROW_SP), { 32 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_CFA, 0, 32, -8, -16) },
    { "leaf",
      0,
      0,
      0,
      0,
      { 0, ROW_INFO(1, 0, ROW_SP), { 0 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_UNSAVED, SFB_WHERE_UNSAVED, 0, 0, 0, 0) },
    { "CFA below sp", 0, 0, 0, 0, { 0, ROW_INFO(1, 0, ROW_SP), { -16 } }, SFB_BAD_FRE, { 0 } },
    { "LR saved",
      0,
      0,
      0,
      0,
      { 0, ROW_INFO(2, 0, ROW_SP), { 16, -16 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_UNSAVED, 0, 16, -16, 0) },
    { "LR and fp saved",
      0,
      0,
      0,
      0,
      { 0, ROW_INFO(3, 1, ROW_FP), { 512, -504, -512 } },
      SFB_OK,
      RULE(SFB_BASE_FP, SFB_WHERE_CFA, SFB_WHERE_CFA, 0, 512, -504, -512) },
    { "signed in LR",
      0,
      0,
      0,
      0,
      { 0, ROW_INFO(1, 0, ROW_SP) | ROW_MANGLED, { 0 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_UNSAVED, SFB_WHERE_UNSAVED, SFB_RULE_RA_SIGNED, 0, 0, 0) },
    { "signed, key B",
      0,
      0,
      0,
      0x20,
      { 0, ROW_INFO(3, 0, ROW_SP) | ROW_MANGLED, { 16, -8, -16 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_CFA, SFB_RULE_RA_SIGNED | SFB_RULE_RA_KEY_B, 16,
           -8, -16) },
    { "key B, not yet signed",
      0,
      0,
      0,
      0x20,
      { 0, ROW_INFO(1, 0, ROW_SP), { 0 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_UNSAVED, SFB_WHERE_UNSAVED, SFB_RULE_RA_KEY_B, 0, 0, 0) },
    { "fixed RA",
      0,
      -8,
      0,
      0,
      { 0, ROW_INFO(2, 0, ROW_SP), { 16, -16 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_CFA, 0, 16, -8, -16) },
    { "fixed fp",
      0,
      0,
      -16,
      0,
      { 0, ROW_INFO(2, 0, ROW_SP), { 16, -8 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_CFA, 0, 16, -8, -16) },
    { "both fixed",
      0,
      -8,
      -16,
      0,
      { 0, ROW_INFO(1, 0, ROW_SP), { 16 } },
      SFB_OK,
      RULE(SFB_BASE_SP, SFB_WHERE_CFA, SFB_WHERE_CFA, 0, 16, -8, -16) },
};

Test(fre_rule, says_what_each_row_means)
{
    for (size_t k = 0; k < sizeof meanings / sizeof *meanings; k++)
        for (size_t i = 0; i < 3; i++) {
            const enum sfb_abi abi = abi_cases[i].abi;
            const struct function function = { 0, 16, meanings[k].function_info, 1,
                                               &meanings[k].row };
            const struct layout layout = { .abi = abi,
                                           .fixed_ra = meanings[k].fixed_ra,
                                           .fixed_fp = meanings[k].fixed_fp,
                                           .function_count = 1,
                                           .functions = &function };
            struct sfb_rule untouched, rule, found;
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;
            struct sfb_fre r;

            if (meanings[k].abi == 0 ? abi == SFB_ABI_AMD64_LE : abi != meanings[k].abi)
                continue;
            memset(&untouched, 0x55, sizeof untouched);
            rule = found = untouched;
            make(&s, &layout);
            cr_assert(eq(int, sfb_fre_read(&s.section, &s.fde, 0, &r, NULL), SFB_OK));
            cr_expect(eq(int, sfb_fre_rule(&s.section, &s.fde, &r, &rule, &e), meanings[k].want),
                      "%s", meanings[k].name);
            cr_expect(
                eq(int, sfb_section_find(&s.section, ADDRESS + 3, &found, NULL), meanings[k].want));
            if (meanings[k].want == SFB_OK)
                untouched = meanings[k].rule;
            else
                cr_expect(eq(int, strcmp(e.field, "sfre_info"), 0));
            cr_expect(eq(int, memcmp(&rule, &untouched, sizeof rule), 0), "%s", meanings[k].name);
            cr_expect(eq(int, memcmp(&found, &untouched, sizeof found), 0), "%s", meanings[k].name);
        }
}
