/* From pc to rule in one call: that it is the three calls in one, and never anything else. */
#include "sfb/section.h"

#include <string.h>

#include "support/guarded.h"
#include "support/section_bytes.h"
#include "support/test.h"

#define ADDRESS 0x555555554000u

static const struct row leaf[] = { { 0, ROW_INFO(1, 0, ROW_SP), { 16 } } };
static const struct row frame[] = {
    { 0, ROW_INFO(1, 0, ROW_SP), { 16 } },
    { 1, ROW_INFO(2, 0, ROW_SP), { 32, -16 } },
    { 4, ROW_INFO(2, 1, ROW_FP), { 48, -16 } },
    { 200, ROW_INFO(1, 2, ROW_SP), { 64 } },
};
static const struct row late[] = { { 4, ROW_INFO(1, 0, ROW_SP), { 16 } } };

static const struct function functions[] = {
    { -0x3000, 0x10, 0, 1, leaf },     { -0x2000, 0x100, 0, 4, frame },
    { -0x1f00, 0x100, 1, 4, frame },   { -0x1e00, 0, 0, 1, leaf },
    { -0x1e00, 0x10000, 2, 4, frame }, { 0x10000, 0x10, 0, 0, NULL },
    { 0x10010, 0x10, 0, 1, late },
};

static struct layout layout_of(const struct form *form, uint8_t flags)
{
    return (struct layout){ .abi = form->abi.abi,
                            .version = form->version,
                            .flags = flags | form->flags,
                            .fixed_ra = form->abi.fixed_ra,
                            .aux_size = 1,
                            .fde_gap = 2,
                            .fre_gap = 3,
                            .function_count = sizeof functions / sizeof *functions,
                            .functions = functions };
}

/* Place in the section; status; CFA offset. */
static const struct {
    int32_t place;
    enum sfb_status want;
    int32_t cfa;
} cases[] = {
    { -0x3001, SFB_NO_FDE, 0 },   { -0x3000, SFB_OK, 16 },    { -0x2ff1, SFB_OK, 16 },
    { -0x2ff0, SFB_NO_FDE, 0 },   { -0x2001, SFB_NO_FDE, 0 }, { -0x2000, SFB_OK, 16 },
    { -0x1fff, SFB_OK, 32 },      { -0x1ffd, SFB_OK, 32 },    { -0x1ffc, SFB_OK, 48 },
    { -0x1f39, SFB_OK, 48 },      { -0x1f38, SFB_OK, 64 },    { -0x1f01, SFB_OK, 64 },
    { -0x1f00, SFB_OK, 16 },      { -0x1eff, SFB_OK, 32 },    { -0x1e00, SFB_OK, 16 },
    { -0x1dff, SFB_OK, 32 },      { 0x0, SFB_OK, 64 },        { 0xe1ff, SFB_OK, 64 },
    { 0xe200, SFB_NO_FDE, 0 },    { 0x10000, SFB_NO_FRE, 0 }, { 0x1000f, SFB_NO_FRE, 0 },
    { 0x10010, SFB_NO_FRE, 0 },   { 0x10013, SFB_NO_FRE, 0 }, { 0x10014, SFB_OK, 16 },
    { 0x1001f, SFB_OK, 16 },      { 0x10020, SFB_NO_FDE, 0 }, { INT32_MAX, SFB_NO_FDE, 0 },
    { INT32_MIN, SFB_NO_FDE, 0 },
};

Test(section_find, answers_each_case_wherever_the_section_lies)
{
    static const uint64_t addresses[] = { ADDRESS, 0, 1, 0x1fff, UINT64_MAX, UINT64_MAX - 0x10012 };

    for (size_t i = 0; i < FORM_COUNT; i++)
        for (size_t a = 0; a < sizeof addresses / sizeof *addresses; a++)
            for (unsigned flags = 0; flags < 2; flags++) {
                struct layout l = layout_of(&forms[i], (uint8_t)flags);
                struct bytes b = section_bytes(&l);
                struct sfb_section s;

                cr_assert(eq(int, sfb_section_open(&s, b.at, b.n, addresses[a], NULL), SFB_OK));
                for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
                    const uint64_t pc = addresses[a] + (uint64_t)cases[k].place;
                    struct sfb_rule rule = { .cfa_offset = 0 };

                    cr_expect(eq(int, sfb_section_find(&s, pc, &rule, NULL), cases[k].want), "%#x",
                              (unsigned)cases[k].place);
                    cr_expect(eq(i32, rule.cfa_offset, cases[k].cfa), "%#x",
                              (unsigned)cases[k].place);
                }
            }
}

/* What the three calls say, status, error and rule. */
static enum sfb_status in_three_calls(const struct sfb_section *s, uint64_t pc,
                                      struct sfb_rule *rule, struct sfb_error *e)
{
    struct sfb_fde fde;
    struct sfb_fre fre;
    enum sfb_status status = sfb_fde_find(s, pc, &fde, e);

    if (status == SFB_OK)
        status = sfb_fre_find(s, &fde, pc, &fre, e);
    if (status == SFB_OK)
        status = sfb_fre_rule(s, &fde, &fre, rule, e);
    return status;
}

/* Each byte of the tables set to a few values, and every answer compared. */
Test(section_find, is_the_three_calls_in_one_on_corrupt_tables)
{
    static const uint8_t values[] = { 0x00, 0x01, 0x13, 0x61, 0x7f, 0x80, 0xff };
    struct guarded g = guarded_new(1024);

    for (size_t i = 0; i < FORM_COUNT; i++) {
        struct layout l = layout_of(&forms[i], SFB_SECTION_FDE_SORTED);
        struct bytes b = section_bytes(&l);

        for (size_t at = 28; at < b.n; at++)
            for (size_t v = 0; v < sizeof values; v++) {
                uint8_t *copy = guarded_copy(&g, b.at, b.n);
                struct sfb_section s;

                cr_assert(eq(int, sfb_section_open(&s, copy, b.n, ADDRESS, NULL), SFB_OK));
                copy[at] = values[v];
                for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
                    const uint64_t pc = ADDRESS + (uint64_t)cases[k].place;
                    struct sfb_rule one = { .flags = 0 }, three = { .flags = 0 };
                    struct sfb_error e1 = { SFB_OK, "", 0 }, e3 = { SFB_OK, "", 0 };
                    enum sfb_status got = sfb_section_find(&s, pc, &one, &e1);

                    cr_expect(eq(int, got, in_three_calls(&s, pc, &three, &e3)));
                    cr_expect(eq(int, sfb_section_find(&s, pc, &one, NULL), got));
                    cr_expect(eq(int, memcmp(&one, &three, sizeof one), 0));
                    cr_expect(eq(int, e1.status, got));
                    cr_expect(eq(int, e1.status, e3.status));
                    cr_expect(eq(int, strcmp(e1.field, e3.field), 0));
                    cr_expect(eq(u64, e1.offset, e3.offset));
                    cr_expect(le(u64, e1.offset, b.n));
                }
            }
    }
    guarded_free(&g);
}

Test(section_find, reads_at_any_alignment)
{
    struct guarded g = guarded_new(1024);

    for (size_t i = 0; i < FORM_COUNT; i++)
        for (size_t shift = 0; shift < 8; shift++) {
            struct layout l = layout_of(&forms[i], SFB_SECTION_FDE_SORTED);
            struct bytes b = section_bytes(&l);
            const uint8_t *data = guarded_copy(&g, b.at, b.n + shift);
            struct sfb_section s;

            cr_assert(eq(int, sfb_section_open(&s, data, b.n, ADDRESS, NULL), SFB_OK));
            for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
                struct sfb_rule rule;

                cr_expect(eq(int,
                             sfb_section_find(&s, ADDRESS + (uint64_t)cases[k].place, &rule, NULL),
                             cases[k].want));
            }
        }
    guarded_free(&g);
}
