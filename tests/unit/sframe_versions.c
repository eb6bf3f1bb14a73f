/* What versions 2 and 3 say that version 1 cannot: attributes, empty rows, pairs of words. */
#include "sfb/section.h"

#include <string.h>

#include "support/section_bytes.h"
#include "support/test.h"

#define ADDRESS 0x7f0000001000u
#define SP1     ROW_INFO(1, 0, ROW_SP)
#define FLEX(count, log)                                                                           \
    ROW_INFO(count, log, 0) /* the base bit means nothing there, and is clear */

/* Control words: value, or the word there, of a register; the word at an offset from the CFA. */
#define REG(number) ((number) << 3 | 1)
#define AT(number)  ((number) << 3 | 3)
#define CFA_AT      2
#define CFA_VALUE   0x0
#define RSP         7
#define RBP         6

struct subject {
    struct layout layout;
    struct bytes bytes;
    struct sfb_section section;
};

/* One function at the section's address, of 64 bytes, and what may be said of it. */
static void make(struct subject *s, const struct form *form, uint8_t info,
                 struct function_more more, const struct row *rows, uint32_t count)
{
    const struct function function = { 0, 64, info, count, rows };

    s->layout = (struct layout){ .abi = form->abi.abi,
                                 .version = form->version,
                                 .flags = (uint8_t)(SFB_SECTION_FDE_SORTED | form->flags),
                                 .fixed_ra = form->abi.fixed_ra,
                                 .function_count = 1,
                                 .functions = &function,
                                 .more = &more };
    s->bytes = section_bytes(&s->layout);
    cr_assert(
        eq(int, sfb_section_open(&s->section, s->bytes.at, s->bytes.n, ADDRESS, NULL), SFB_OK));
}

static bool is_amd64(const struct form *form)
{
    return form->abi.abi == SFB_ABI_AMD64_LE;
}

Test(fde_read, judges_the_info_of_each_version)
{
    static const struct row row = { 0, SP1, { 16 } };

    for (size_t i = 3; i < FORM_COUNT; i++)
        for (unsigned info = 0; info < 256; info++) {
            const bool good = (info & (forms[i].version == 3 ? 0x40 : 0xc0)) == 0 &&
                              (info & 15) <= 2 && !(is_amd64(&forms[i]) && (info & 0x20) != 0);
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;
            struct sfb_fde f;

            make(&s, &forms[i], 0, (struct function_more){ 0, 16 }, &row, 1);
            s.bytes.at[attribute_at(&s.layout, 0, &s.bytes) + (forms[i].version == 3 ? 2 : 4)] =
                (uint8_t)info;
            s.section.fre_size += 3; /* for rows of 4 bytes: there is room behind */
            cr_expect(eq(int, sfb_fde_read(&s.section, 0, &f, &e), good ? SFB_OK : SFB_BAD_FDE),
                      "version %d, %#x", forms[i].version, info);
            if (!good)
                continue;
            cr_expect(eq(int, f.type == SFB_FDE_PCMASK, (info & 0x10) != 0));
            cr_expect(eq(int, f.key_b, (info & 0x20) != 0));
            cr_expect(eq(int, f.signal, (info & 0x80) != 0));
            cr_expect(eq(u8, f.repeat_size, 16));
        }
}

Test(fde_read, judges_the_second_info_of_version_3)
{
    static const struct row row = { 0, SP1, { 16 } };

    for (size_t i = 9; i < FORM_COUNT; i++)
        for (unsigned info2 = 0; info2 < 256; info2++) {
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;
            struct sfb_fde f;

            make(&s, &forms[i], 0, (struct function_more){ (uint8_t)info2, 0 }, &row, 1);
            cr_expect(
                eq(int, sfb_fde_read(&s.section, 0, &f, &e), info2 <= 1 ? SFB_OK : SFB_BAD_FDE));
            if (info2 <= 1) {
                cr_expect(eq(int, f.flexible, info2 == 1));
            } else {
                cr_expect(eq(int, strcmp(e.field, "sfda_func_info2"), 0));
                cr_expect(eq(u64, e.offset, s.section.fre_offset + 3));
            }
        }
}

/* An attribute that is not wholly within the rows' table, whatever it would have said. */
Test(fde_read, refuses_an_attribute_that_is_cut)
{
    static const struct row row = { 0, SP1, { 16 } };

    for (size_t i = 9; i < FORM_COUNT; i++) {
        struct sfb_error e = { SFB_OK, "", 0 };
        struct subject s;
        struct sfb_fde f;

        make(&s, &forms[i], 0, (struct function_more){ 0, 0 }, &row, 1);
        for (uint64_t at = s.section.fre_size - 4; at < s.section.fre_size + UINT64_C(2); at++) {
            bytes_set(&s.bytes, fde_at(&s.layout, 0) + 12, 4, at);
            cr_expect(eq(int, sfb_fde_read(&s.section, 0, &f, &e), SFB_TRUNCATED));
            cr_expect(eq(int, strcmp(e.field, "sfdi_func_start_fre_off"), 0));
            cr_expect(eq(u64, e.offset, fde_at(&s.layout, 0) + 12));
        }
        bytes_set(&s.bytes, fde_at(&s.layout, 0) + 12, 4, UINT32_MAX);
        cr_expect(eq(int, sfb_fde_read(&s.section, 0, &f, &e), SFB_TRUNCATED));
        bytes_set(&s.bytes, fde_at(&s.layout, 0) + 12, 4, 0);
        s.section.fre_size = 4;
        cr_expect(eq(int, sfb_fde_read(&s.section, 0, &f, &e), SFB_TRUNCATED));
        /* Rows that do not fit behind it: two of two bytes each at least, where there are three. */
        s.section.fre_size = 5 + 3;
        bytes_set(&s.bytes, s.section.fre_offset, 2, 2);
        cr_expect(eq(int, sfb_fde_read(&s.section, 0, &f, &e), SFB_TRUNCATED));
        cr_expect(eq(int, strcmp(e.field, "sfda_func_num_fres"), 0));
    }
}

/* Starts of 64 bits, with which wrap what may. */
Test(fde_find, takes_starts_of_64_bits)
{
    static const int64_t starts[] = { INT64_C(1) << 40, -(INT64_C(1) << 40), INT64_C(1) << 62,
                                      INT32_MAX + INT64_C(1), INT32_MIN - INT64_C(1) };
    static const struct row row = { 0, SP1, { 16 } };

    for (size_t i = 9; i < FORM_COUNT; i++)
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
            const struct function function = { starts[k], 64, 0, 1, &row };
            const struct layout l = { .abi = forms[i].abi.abi,
                                      .version = 3,
                                      .flags = (uint8_t)(SFB_SECTION_FDE_SORTED | forms[i].flags),
                                      .fixed_ra = forms[i].abi.fixed_ra,
                                      .function_count = 1,
                                      .functions = &function };
            struct bytes b = section_bytes(&l);
            const uint64_t start = ADDRESS + (uint64_t)starts[k];
            struct sfb_section s;
            struct sfb_rule rule;
            uint64_t found = 0;

            cr_assert(eq(int, sfb_section_open(&s, b.at, b.n, ADDRESS, NULL), SFB_OK));
            cr_expect(eq(int, sfb_section_find(&s, start, &rule, NULL), SFB_OK));
            cr_expect(eq(int, sfb_section_find(&s, start + 63, &rule, NULL), SFB_OK));
            cr_expect(eq(int, sfb_section_find(&s, start + 64, &rule, NULL), SFB_NO_FDE));
            cr_expect(eq(int, sfb_section_find(&s, start - 1, &rule, NULL), SFB_NO_FDE));
            cr_expect(eq(int, sfb_section_find(&s, (uint32_t)start, &rule, NULL), SFB_NO_FDE));
            cr_expect(eq(int, sfb_section_function(&s, start + 9, &found), SFB_OK));
            cr_expect(eq(u64, found, start));
        }
}

/* Blocks of every size: the row of each byte, from the start of the function on. */
Test(fre_find, counts_modulo_the_repeat_size)
{
    static const struct row rows[] = { { 0, SP1, { 8 } }, { 3, SP1, { 16 } }, { 20, SP1, { 24 } } };

    for (size_t i = 3; i < FORM_COUNT; i++)
        for (unsigned repeat = 0; repeat < 256; repeat++) {
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;

            make(&s, &forms[i], 0x10, (struct function_more){ 0, (uint8_t)repeat }, rows, 3);
            for (uint32_t at = 0; at < 64; at++) {
                struct sfb_rule rule = { .cfa_offset = 0 };
                const enum sfb_status status =
                    sfb_section_find(&s.section, ADDRESS + at, &rule, &e);
                const uint32_t in_block = repeat != 0 ? at % repeat : 0;

                cr_expect(eq(int, status, repeat != 0 ? SFB_OK : SFB_BAD_FDE));
                if (repeat != 0)
                    cr_expect(eq(i32, rule.cfa_offset, in_block < 3 ? 8 : in_block < 20 ? 16 : 24));
            }
            cr_expect(eq(int,
                         sfb_section_find(&s.section, ADDRESS + 64, &(struct sfb_rule){ 0 }, NULL),
                         SFB_NO_FDE));
        }
}

/* PLT entries of AMD64 begin behind a call, whatever ld says of .plt.got. */
Test(fre_rule, refuses_a_plt_entry_with_too_much_on_its_stack)
{
    static const struct row wrong[] = { { 0, SP1, { 16 } }, { 6, SP1, { 16 } } };

    for (size_t i = 3; i < FORM_COUNT; i++) {
        struct sfb_rule rule;
        struct subject s;

        if (!is_amd64(&forms[i]))
            continue;
        make(&s, &forms[i], 0x10, (struct function_more){ 0, 16 }, wrong, 2);
        cr_expect(eq(int, sfb_section_find(&s.section, ADDRESS, &rule, NULL), SFB_BAD_FRE));
        cr_expect(eq(int, sfb_section_find(&s.section, ADDRESS + 16, &rule, NULL), SFB_BAD_FRE));
        cr_expect(eq(int, sfb_section_find(&s.section, ADDRESS + 6, &rule, NULL), SFB_OK));
        make(&s, &forms[i], 0, (struct function_more){ 0, 16 }, wrong, 2);
        cr_expect(eq(int, sfb_section_find(&s.section, ADDRESS, &rule, NULL), SFB_OK));
    }
}

/* (That version 1 has none, unit.sframe_fre says.) */
Test(fre_rule, ends_where_a_row_is_empty)
{
    static const struct row rows[] = { { 0, SP1, { 8 } },
                                       { 4, ROW_INFO(0, 0, 0), { 0 } },
                                       { 8, ROW_INFO(0, 0, ROW_SP), { 0 } },
                                       { 12, SP1, { 16 } },
                                       { 16, ROW_INFO(0, 0, 0), { 0 } } };
    static const struct sfb_rule outermost = { .flags = SFB_RULE_OUTERMOST };

    for (size_t i = 3; i < FORM_COUNT; i++)
        for (uint8_t type = 0; type < 3; type++)
            for (unsigned flexible = 0; flexible < (forms[i].version == 3 ? 2 : 1); flexible++) {
                struct subject s;

                make(&s, &forms[i], type, (struct function_more){ (uint8_t)flexible, 0 }, rows, 5);
                for (uint32_t at = 0; at < 64; at++) {
                    const bool empty = (at >= 4 && at < 12) || at >= 16;
                    /* One word is an offset here, and half a pair there. */
                    const enum sfb_status want = !empty && flexible > 0 ? SFB_BAD_FRE : SFB_OK;
                    struct sfb_rule rule;

                    cr_expect(
                        eq(int, sfb_section_find(&s.section, ADDRESS + at, &rule, NULL), want),
                        "version %d, %u", forms[i].version, at);
                    if (empty)
                        cr_expect(eq(int, memcmp(&rule, &outermost, sizeof rule), 0));
                    else if (flexible == 0)
                        cr_expect(eq(i32, rule.cfa_offset, at < 4 ? 8 : 16));
                }
            }
}

Test(fre_find, leaves_a_function_without_rows_to_others)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        struct sfb_error e = { SFB_OK, "", 0 };
        struct sfb_rule rule;
        struct subject s;

        make(&s, &forms[i], 0, (struct function_more){ 0, 0 }, NULL, 0);
        cr_expect(eq(int, sfb_section_find(&s.section, ADDRESS, &rule, &e), SFB_NO_FRE));
        cr_expect(eq(u64, e.offset, attribute_at(&s.layout, 0, &s.bytes)));
        cr_expect(strstr(e.field, "_func_num_fres") != NULL);
    }
}

/* A row of a flexible function and its meaning; arm: for AArch64, else AMD64. */
static const struct {
    const char *name;
    bool arm;
    uint8_t info;
    struct row row;
    enum sfb_status want;
    struct sfb_rule rule;
} meanings[] = {
#define USUAL_RA .ra.where = SFB_WHERE_CFA, .ra.offset = -8
#define GENERAL  SFB_RULE_ANY_REGISTER
    { "sp", false, 0, { 0, FLEX(2, 0), { REG(RSP), 8 } }, SFB_OK, { USUAL_RA, .cfa_offset = 8 } },
    { "sp, signal",
      false,
      0x80,
      { 0, FLEX(2, 0), { REG(RSP), 8 } },
      SFB_OK,
      { USUAL_RA, .cfa_offset = 8, .flags = SFB_RULE_SIGNAL } },
    { "sp below the word that a call pushes",
      false,
      0,
      { 0, FLEX(2, 0), { REG(RSP), 0 } },
      SFB_BAD_FRE,
      { 0 } },
    { "fp, RA where it is, FP saved",
      false,
      0,
      { 0, FLEX(5, 0), { REG(RBP), 16, 0, CFA_AT, -16 } },
      SFB_OK,
      { USUAL_RA, .cfa_base = SFB_BASE_FP, .cfa_offset = 16, .fp.where = SFB_WHERE_CFA,
        .fp.offset = -16 } },
    { "another register",
      false,
      0,
      { 0, FLEX(2, 0), { REG(10), 0 } },
      SFB_OK,
      { USUAL_RA, .cfa_base = SFB_BASE_REG, .cfa_reg = 10, .flags = GENERAL } },
    { "the word at fp - 8; fp is the word at fp",
      false,
      0,
      { 0, FLEX(5, 0), { AT(RBP), -8, 0, AT(RBP), 0 } },
      SFB_OK,
      { USUAL_RA, .cfa_base = SFB_BASE_FP, .cfa_offset = -8, .fp.where = SFB_WHERE_AT_REG,
        .fp.reg = RBP, .flags = GENERAL | SFB_RULE_CFA_DEREF } },
    { "RA in a register, nothing below sp",
      false,
      0,
      { 0, FLEX(4, 1), { REG(RSP), 0, REG(11), 0 } },
      SFB_OK,
      { .ra.where = SFB_WHERE_IS_REG, .ra.reg = 11, .flags = GENERAL } },
    { "RA elsewhere on the stack",
      false,
      0,
      { 0, FLEX(4, 2), { REG(RSP), 24, CFA_AT, -16 } },
      SFB_OK,
      { .cfa_offset = 24, .ra.where = SFB_WHERE_CFA, .ra.offset = -16 } },
    { "RA at a register, fp in one",
      false,
      0,
      { 0, FLEX(6, 0), { REG(3), 8, AT(12), 16, REG(13), -1 } },
      SFB_OK,
      { .cfa_base = SFB_BASE_REG,
        .cfa_reg = 3,
        .cfa_offset = 8,
        .ra.where = SFB_WHERE_AT_REG,
        .ra.reg = 12,
        .ra.offset = 16,
        .fp.where = SFB_WHERE_IS_REG,
        .fp.reg = 13,
        .fp.offset = -1,
        .flags = GENERAL } },
    { "registers above 15, whose control is no signed byte",
      false,
      0,
      { 0, FLEX(2, 0), { REG(31), 8 } },
      SFB_OK,
      { USUAL_RA, .cfa_base = SFB_BASE_REG, .cfa_reg = 31, .cfa_offset = 8, .flags = GENERAL } },
    { "the same, of four bytes",
      false,
      0,
      { 0, FLEX(2, 2), { REG(255), 8 } },
      SFB_OK,
      { USUAL_RA, .cfa_base = SFB_BASE_REG, .cfa_reg = 255, .cfa_offset = 8, .flags = GENERAL } },
    { "a register that no machine has",
      false,
      0,
      { 0, FLEX(2, 2), { REG(256), 8 } },
      SFB_BAD_FRE,
      { 0 } },
    { "fp is the CFA and more",
      false,
      0,
      { 0, FLEX(5, 0), { REG(RSP), 8, 0, CFA_VALUE, -16 } },
      SFB_BAD_FRE, /* a control of 0 has no offset: a word is left over */
      { 0 } },
    { "nothing for fp, said",
      false,
      0,
      { 0, FLEX(4, 0), { REG(RSP), 8, 0, 0 } },
      SFB_OK,
      { USUAL_RA, .cfa_offset = 8 } },
    { "CFA from the CFA", false, 0, { 0, FLEX(2, 0), { CFA_AT, 8 } }, SFB_BAD_FRE, { 0 } },
    { "no CFA", false, 0, { 0, FLEX(3, 0), { 0, REG(RSP), 8 } }, SFB_BAD_FRE, { 0 } },
    { "one word", false, 0, { 0, FLEX(1, 0), { REG(RSP) } }, SFB_BAD_FRE, { 0 } },
    { "half a pair", false, 0, { 0, FLEX(3, 0), { REG(RSP), 8, CFA_AT } }, SFB_BAD_FRE, { 0 } },
    { "the bit that means nothing",
      false,
      0,
      { 0, FLEX(2, 0), { REG(RSP) | 4, 8 } },
      SFB_BAD_FRE,
      { 0 } },
    { "seven words",
      false,
      0,
      { 0, FLEX(7, 0), { REG(RSP), 8, 2, -8, 2, -16 } },
      SFB_BAD_FRE,
      { 0 } },
    { "AArch64: RA in lr",
      true,
      0,
      { 0, FLEX(2, 0), { (int8_t)REG(31), 0 } },
      SFB_OK,
      { .cfa_base = SFB_BASE_SP } },
    { "AArch64: fp, RA and fp saved, key B",
      true,
      0x20,
      { 0, FLEX(6, 0) | ROW_MANGLED, { (int8_t)REG(29), 16, CFA_AT, -8, CFA_AT, -16 } },
      SFB_OK,
      { .cfa_base = SFB_BASE_FP,
        .cfa_offset = 16,
        .ra.where = SFB_WHERE_CFA,
        .ra.offset = -8,
        .fp.where = SFB_WHERE_CFA,
        .fp.offset = -16,
        .flags = SFB_RULE_RA_SIGNED | SFB_RULE_RA_KEY_B } },
    { "AArch64: RA in x9, fp saved without it",
      true,
      0,
      { 0, FLEX(6, 1), { REG(31), 16, REG(9), 0, CFA_AT, -16 } },
      SFB_OK,
      { .cfa_offset = 16,
        .ra.where = SFB_WHERE_IS_REG,
        .ra.reg = 9,
        .fp.where = SFB_WHERE_CFA,
        .fp.offset = -16,
        .flags = GENERAL } },
    { "AArch64: fp saved, RA not",
      true,
      0,
      { 0, FLEX(5, 0), { (int8_t)REG(31), 16, 0, CFA_AT, -16 } },
      SFB_OK,
      { .cfa_offset = 16, .fp.where = SFB_WHERE_CFA, .fp.offset = -16 } },
};

Test(fre_rule, says_what_each_flexible_row_means)
{
    for (size_t k = 0; k < sizeof meanings / sizeof *meanings; k++)
        for (size_t i = 9; i < FORM_COUNT; i++) {
            struct sfb_rule rule, want;
            struct sfb_error e = { SFB_OK, "", 0 };
            struct subject s;

            if (meanings[k].arm == is_amd64(&forms[i]))
                continue;
            memset(&rule, 0x55, sizeof rule);
            want = meanings[k].want == SFB_OK ? meanings[k].rule : rule;
            make(&s, &forms[i], meanings[k].info, (struct function_more){ 1, 0 }, &meanings[k].row,
                 1);
            cr_expect(
                eq(int, sfb_section_find(&s.section, ADDRESS + 63, &rule, &e), meanings[k].want),
                "%s", meanings[k].name);
            cr_expect(eq(int, memcmp(&rule, &want, sizeof rule), 0), "%s", meanings[k].name);
            if (meanings[k].want != SFB_OK)
                cr_expect(eq(u64, e.offset, s.section.fre_offset + 5 + 1), "%s", meanings[k].name);
        }
}

/* Sections that nobody merged: what the first does not cover, one behind it does. */
Test(section_find, looks_into_every_header)
{
    static const struct row rows[3] = { { 0, SP1, { 16 } },
                                        { 0, SP1, { 32 } },
                                        { 0, SP1, { 48 } } };

    for (size_t i = 0; i < FORM_COUNT; i++) {
        struct bytes all = { .n = 0 };
        struct sfb_error e = { SFB_OK, "", 0 };
        struct sfb_section s;
        struct sfb_rule rule;
        uint64_t start;

        for (int k = 0; k < 3; k++) {
            const struct function function = { 0x1000 * k - 0x1000, 0x20, 0, 1, &rows[k] };
            const struct layout l = { .abi = forms[i].abi.abi,
                                      .version = forms[i].version,
                                      .flags = forms[i].flags,
                                      .fixed_ra = forms[i].abi.fixed_ra,
                                      .aux_size = (uint8_t)k,
                                      .function_count = 1,
                                      .functions = &function };
            struct bytes b = section_bytes(&l);

            all.n = (all.n + 7) & ~(size_t)7;
            memcpy(all.at + all.n, b.at, b.n);
            all.n += b.n;
        }
        cr_assert(eq(int, sfb_section_open(&s, all.at, all.n, ADDRESS, NULL), SFB_OK));
        for (int k = 0; k < 3; k++) {
            /* Each counts from its own header, which is less than 0x100 bytes away. */
            uint64_t from = ADDRESS + (uint64_t)(0x1000 * k - 0x1000), found = 0;

            for (start = from; start < from + 0x100; start++)
                if (sfb_section_find(&s, start, &rule, NULL) == SFB_OK)
                    break;
            cr_assert(lt(u64, start, from + 0x100));
            cr_expect(eq(i32, rule.cfa_offset, 16 * k + 16));
            cr_expect(eq(int, sfb_section_find(&s, start + 0x1f, &rule, NULL), SFB_OK));
            cr_expect(eq(int, sfb_section_function(&s, start + 0x1f, &found), SFB_OK));
            cr_expect(eq(u64, found, start));
            cr_expect(eq(int, sfb_section_find(&s, start + 0x20, &rule, &e), SFB_NO_FDE));
            cr_expect(le(u64, e.offset, all.n));
            cr_expect(eq(int, sfb_section_function(&s, start + 0x20, &found), SFB_NO_FDE));
        }
        /* The second header is bad: what the first covers is found, nothing else is believed. */
        cr_assert(ge(sz, s.rest, 64));
        all.at[((s.size + 7) & ~(size_t)7) + AT_VERSION] = 99;
        cr_expect(eq(int, sfb_section_find(&s, ADDRESS - 0x1000 + 8, &rule, NULL), SFB_OK));
        cr_expect(eq(int, sfb_section_find(&s, ADDRESS + 0x3000, &rule, &e), SFB_BAD_VERSION));
        cr_expect(eq(u64, e.offset, ((s.size + 7) & ~(size_t)7) + AT_VERSION));
    }
}
