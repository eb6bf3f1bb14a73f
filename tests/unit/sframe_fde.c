/* Function entries: what is read, what is refused, and which one covers a pc. */
#include "sfb/section.h"

#include <string.h>

#include "support/guarded.h"
#include "support/section_bytes.h"
#include "support/test.h"

#define ADDRESS 0x7f0000001000u

static const struct row one_row[] = { { 0, ROW_INFO(1, 0, ROW_SP), { 16 } } };

static struct sfb_section opened(const struct bytes *b, uint64_t address)
{
    struct sfb_section s;

    cr_assert(eq(int, sfb_section_open(&s, b->at, b->n, address, NULL), SFB_OK));
    return s;
}

static struct layout layout_of(const struct abi_case *c, uint8_t flags, const struct function *f,
                               uint32_t count)
{
    return (struct layout){ .abi = c->abi,
                            .flags = flags,
                            .fixed_ra = c->fixed_ra,
                            .function_count = count,
                            .functions = f };
}

static struct layout form_of(const struct form *form, uint8_t flags, const struct function *f,
                             uint32_t count)
{
    struct layout l = layout_of(&form->abi, flags | form->flags, f, count);

    l.version = form->version;
    return l;
}

Test(fde_read, gives_every_field)
{
    static const struct function functions[] = {
        { .start = -0x2000, .size = 0x10, .info = 0x00, .row_count = 1, .rows = one_row },
        { .start = 0x7fffffff - 0x200,
          .size = 0xffffffff,
          .info = 1,
          .row_count = 1,
          .rows = one_row },
        { .start = INT32_MIN + 0x200, .size = 1, .info = 0x02, .row_count = 1, .rows = one_row },
    };

    for (size_t i = 0; i < FORM_COUNT; i++) {
        struct layout l = form_of(&forms[i], 0, functions, 3);
        struct bytes b;
        struct sfb_section s;
        uint32_t rows = 0;

        l.aux_size = 3;
        l.fre_gap = 2;
        b = section_bytes(&l);
        s = opened(&b, ADDRESS);
        for (uint32_t k = 0; k < 3; k++) {
            struct sfb_fde f;

            cr_assert(eq(int, sfb_fde_read(&s, k, &f, NULL), SFB_OK));
            cr_expect(eq(u64, f.start, ADDRESS + (uint64_t)functions[k].start));
            cr_expect(eq(u32, f.size, functions[k].size));
            rows += l.version == 3 ? 5 : 0;
            cr_expect(eq(u32, f.fre_offset, rows));
            cr_expect(eq(u32, f.fre_count, 1));
            cr_expect(eq(u32, f.index, k));
            cr_expect(eq(u8, f.fre_type, (uint8_t)k));
            cr_expect(eq(u8, f.type, SFB_FDE_PCINC));
            cr_expect(eq(int, f.key_b, false));
            cr_expect(eq(int, f.signal, false));
            cr_expect(eq(int, f.flexible, false));
            rows += (1u << k) + 2;
        }
    }
}

/* All 256 info words, for each ABI. */
Test(fde_read, judges_every_info_word)
{
    static const struct function function = { 0, 16, 0, 1, one_row };

    for (size_t i = 0; i < 3; i++)
        for (unsigned info = 0; info < 256; info++) {
            const bool amd64 = abi_cases[i].abi == SFB_ABI_AMD64_LE;
            const bool good = (info & 0xc0) == 0 && (info & 0x0f) <= 2 &&
                              (amd64 ? (info & 0x20) == 0 : (info & 0x10) == 0);
            struct layout l = layout_of(&abi_cases[i], 0, &function, 1);
            struct bytes b = section_bytes(&l);
            struct sfb_error e = { SFB_OK, "", 0 };
            struct sfb_section s;
            struct sfb_fde f;

            /* the row is shorter than an ADDR4 row would be */
            bytes_set(&b, AT_FRE_LEN, 4, 6);
            b.n += 3;
            bytes_set(&b, fde_at(&l, 0) + 16, 1, info);
            s = opened(&b, ADDRESS);
            cr_expect(eq(int, sfb_fde_read(&s, 0, &f, &e), good ? SFB_OK : SFB_BAD_FDE), "%#x",
                      info);
            if (good) {
                cr_expect(eq(u8, f.fre_type, (uint8_t)(info & 15)));
                cr_expect(eq(u8, f.type, (info & 0x10) != 0 ? SFB_FDE_PCMASK : SFB_FDE_PCINC));
                cr_expect(eq(int, f.key_b, (info & 0x20) != 0));
            } else {
                cr_expect(eq(int, strcmp(e.field, "sfde_func_info"), 0));
                cr_expect(eq(u64, e.offset, fde_at(&l, 0) + 16));
                cr_expect(eq(int, sfb_fde_find(&s, ADDRESS, &f, NULL), SFB_BAD_FDE));
            }
        }
}

/* The second of two functions, whose rows begin at byte 3 of 6. */
static const struct {
    const char *name;
    size_t at;
    uint32_t value;
    enum sfb_status want;
    const char *field;
} rows_cases[] = {
    { "last good offset", 8, 3, SFB_OK, "" },
    { "too near to the end", 8, 4, SFB_TRUNCATED, "sfde_func_num_fres" },
    { "at the end", 8, 6, SFB_TRUNCATED, "sfde_func_start_fre_off" },
    { "at the most", 8, UINT32_MAX, SFB_TRUNCATED, "sfde_func_start_fre_off" },
    { "one row too many", 12, 2, SFB_TRUNCATED, "sfde_func_num_fres" },
    { "rows * 3 wraps to 2", 12, 0xaaaaaaac, SFB_TRUNCATED, "sfde_func_num_fres" },
    { "rows at the most", 12, UINT32_MAX, SFB_TRUNCATED, "sfde_func_num_fres" },
    { "no rows", 12, 0, SFB_OK, "" },
    { "rows of 4 bytes", 16, 1, SFB_TRUNCATED, "sfde_func_num_fres" },
};

Test(fde_read, refuses_rows_that_cannot_fit)
{
    static const struct function functions[] = { { 0, 16, 0, 1, one_row },
                                                 { 16, 16, 0, 1, one_row } };

    for (size_t k = 0; k < sizeof rows_cases / sizeof *rows_cases; k++)
        for (size_t i = 0; i < 3; i++) {
            struct layout l = layout_of(&abi_cases[i], 0, functions, 2);
            struct bytes b = section_bytes(&l);
            struct sfb_error e = { SFB_OK, "", 0 };
            struct sfb_section s;
            struct sfb_fde f;

            bytes_set(&b, fde_at(&l, 1) + rows_cases[k].at, rows_cases[k].at == 16 ? 1 : 4,
                      rows_cases[k].value);
            s = opened(&b, ADDRESS);
            cr_expect(eq(int, sfb_fde_read(&s, 1, &f, &e), rows_cases[k].want), "%s",
                      rows_cases[k].name);
            cr_expect(eq(int, strcmp(e.field, rows_cases[k].field), 0), "%s: %s",
                      rows_cases[k].name, e.field);
        }
}

Test(fde_read, takes_any_offset_where_there_are_no_rows)
{
    static const struct function function = { 0, 16, 0, 0, NULL };
    struct layout l = layout_of(&abi_cases[2], 0, &function, 1);
    struct bytes b = section_bytes(&l);
    struct sfb_section s;
    struct sfb_fde f;

    bytes_set(&b, fde_at(&l, 0) + 8, 4, UINT32_MAX);
    s = opened(&b, ADDRESS);
    cr_expect(eq(int, sfb_fde_read(&s, 0, &f, NULL), SFB_OK));
}

Test(fde_read, refuses_an_index_out_of_range)
{
    static const struct function function = { 0, 16, 0, 1, one_row };
    struct layout l = layout_of(&abi_cases[0], 0, &function, 1);
    struct bytes b = section_bytes(&l);
    struct sfb_section s = opened(&b, ADDRESS);
    struct sfb_fde f;

    cr_expect(eq(int, sfb_fde_read(&s, 1, &f, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_fde_read(&s, UINT32_MAX, &f, NULL), SFB_BAD_ARGUMENT));
}

enum { NONE = -1 };

/* A question about a set of functions, and the index of the answer. */
struct question {
    int64_t pc; /* from the start of the section */
    int want;
};

static void ask(const char *name, uint8_t flags, const struct function *functions, uint32_t count,
                const struct question *questions, size_t question_count)
{
    static const uint64_t addresses[] = { ADDRESS, 0, 0x100, UINT64_MAX - 0x80, UINT64_MAX };

    for (size_t i = 0; i < FORM_COUNT; i++)
        for (size_t a = 0; a < sizeof addresses / sizeof *addresses; a++) {
            struct layout l = form_of(&forms[i], flags, functions, count);
            struct bytes b = section_bytes(&l);
            struct sfb_section s = opened(&b, addresses[a]);

            for (size_t k = 0; k < question_count; k++) {
                const uint64_t pc = addresses[a] + (uint64_t)questions[k].pc;
                const enum sfb_status want = questions[k].want == NONE ? SFB_NO_FDE : SFB_OK;
                struct sfb_fde f = { .index = UINT32_MAX };

                cr_expect(eq(int, sfb_fde_find(&s, pc, &f, NULL), want), "%s: pc %jd at %jx", name,
                          (intmax_t)questions[k].pc, (uintmax_t)addresses[a]);
                if (want == SFB_OK)
                    cr_expect(eq(int, (int)f.index, questions[k].want), "%s: pc %jd", name,
                              (intmax_t)questions[k].pc);
            }
        }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ASK(name, flags, functions, questions)                                                     \
    ask(name, flags, functions, COUNT(functions), questions, COUNT(questions))

Test(fde_find, knows_gaps_and_ends)
{
    static const struct function functions[] = {
        { -0x100, 0x10, 0, 1, one_row }, { -0xf0, 0x10, 0, 1, one_row },
        { -0x80, 0x20, 0, 1, one_row },  { -0x8, 0x10, 0, 1, one_row },
        { 0x40, 0x40, 0, 1, one_row },
    };
    static const struct question questions[] = {
        { -0x101, NONE },
        { -0x100, 0 },
        { -0xf1, 0 },
        { -0xf0, 1 },
        { -0xe1, 1 },
        { -0xe0, NONE },
        { -0x81, NONE },
        { -0x80, 2 },
        { -0x61, 2 },
        { -0x60, NONE },
        { -0x8, 3 },
        { 0, 3 },
        { 7, 3 },
        { 8, NONE },
        { 0x3f, NONE },
        { 0x40, 4 },
        { 0x7f, 4 },
        { 0x80, NONE },
        { INT64_MAX, NONE },
        { INT64_MIN, NONE },
        { 0x100000040, NONE },
        { INT64_C(-0xffffffc0), NONE },
    };

    ASK("sorted", SFB_SECTION_FDE_SORTED, functions, questions);
    ASK("not sorted", 0, functions, questions);
}

Test(fde_find, knows_functions_at_the_limits)
{
    static const struct function functions[] = {
        { INT32_MIN, 0x10, 0, 1, one_row },
        { INT32_MAX, UINT32_MAX, 0, 1, one_row },
    };
    static const struct question questions[] = {
        { INT32_MIN, 0 },
        { (int64_t)INT32_MIN - 1, NONE },
        { (int64_t)INT32_MIN + 0x10, NONE },
        { INT32_MAX, 1 },
        { (int64_t)INT32_MAX + UINT32_MAX - 1, 1 },
        { (int64_t)INT32_MAX + UINT32_MAX, NONE },
    };

    /* Starts that count from their field reach as far from there. */
    for (size_t i = 0; i < 3; i++) {
        struct layout l = layout_of(&abi_cases[i], SFB_SECTION_FDE_SORTED, functions, 2);
        struct bytes b = section_bytes(&l);
        struct sfb_section s = opened(&b, ADDRESS);

        for (size_t k = 0; k < COUNT(questions); k++) {
            struct sfb_fde f = { .index = UINT32_MAX };
            enum sfb_status status =
                sfb_fde_find(&s, ADDRESS + (uint64_t)questions[k].pc, &f, NULL);

            cr_expect(eq(int, status, questions[k].want == NONE ? SFB_NO_FDE : SFB_OK));
            cr_expect(eq(int, (int)f.index, questions[k].want));
        }
    }
}

Test(fde_find, passes_over_functions_of_size_zero)
{
    static const struct function functions[] = {
        { 0x10, 0, 0, 1, one_row }, { 0x10, 0x10, 0, 1, one_row }, { 0x20, 0x10, 0, 1, one_row },
        { 0x28, 0, 0, 1, one_row }, { 0x28, 0, 0, 1, one_row },    { 0x40, 0, 0, 1, one_row },
    };
    static const struct question questions[] = {
        { 0xf, NONE }, { 0x10, 1 }, { 0x1f, 1 },    { 0x20, 2 },
        { 0x28, 2 },   { 0x2f, 2 }, { 0x30, NONE }, { 0x40, NONE },
    };

    ASK("sorted", SFB_SECTION_FDE_SORTED, functions, questions);
    ASK("not sorted", 0, functions, questions);
}

Test(fde_find, takes_the_nearest_of_two_that_overlap)
{
    static const struct function functions[] = { { 0, 0x40, 0, 1, one_row },
                                                 { 0x10, 0x10, 0, 1, one_row } };
    static const struct question nearest[] = { { 0, 0 },    { 0xf, 0 },  { 0x10, 1 },
                                               { 0x1f, 1 }, { 0x20, 0 }, { 0x3f, 0 } };
    static const struct question first[] = { { 0, 0 }, { 0x10, 0 }, { 0x20, 0 } };

    ASK("sorted", SFB_SECTION_FDE_SORTED, functions, nearest);
    ASK("not sorted", 0, functions, first);
}

Test(fde_find, steps_back_over_sixteen_entries)
{
    struct function functions[18] = { { 0, 0x100, 0, 1, one_row } };

    for (int32_t i = 1; i < 18; i++)
        functions[i] = (struct function){ i, 0, 0, 1, one_row };
    for (uint32_t count = 1; count <= 18; count++) {
        const struct question question = { 0x80, count <= 17 ? 0 : NONE };

        ask("steps back", SFB_SECTION_FDE_SORTED, functions, count, &question, 1);
    }
}

Test(fde_find, scans_a_section_that_is_not_sorted)
{
    static const struct function functions[] = { { 0x40, 0x10, 0, 1, one_row },
                                                 { -0x40, 0x10, 0, 1, one_row },
                                                 { 0x20, 0x10, 0, 1, one_row } };
    static const struct question questions[] = { { 0x48, 0 },    { -0x38, 1 }, { 0x28, 2 },
                                                 { 0x38, NONE }, { 0, NONE },  { 0x50, NONE } };

    ASK("not sorted", 0, functions, questions);
}

/* Every order of five functions under a flag that says sorted: found or missed, never wrong. */
Test(fde_find, is_never_wrong_where_the_flag_lies)
{
    for (size_t order = 0; order < 120; order++) {
        struct function functions[5];
        int32_t left[5] = { 0, 0x20, 0x40, 0x60, 0x80 };
        size_t n = 5, rest = order;

        for (size_t i = 0; i < 5; i++, n--) {
            const size_t pick = rest % n;

            rest /= n;
            functions[i] = (struct function){ left[pick], 0x18, 0, 1, one_row };
            memmove(&left[pick], &left[pick + 1], (n - pick - 1) * sizeof *left);
        }
        for (size_t i = 0; i < FORM_COUNT; i++) {
            struct layout l = form_of(&forms[i], SFB_SECTION_FDE_SORTED, functions, 5);
            struct bytes b = section_bytes(&l);
            struct sfb_section s = opened(&b, ADDRESS);

            for (uint64_t pc = ADDRESS - 4; pc < ADDRESS + 0xa0; pc++) {
                struct sfb_fde f;
                enum sfb_status status = sfb_fde_find(&s, pc, &f, NULL);

                if (status == SFB_OK)
                    cr_expect(lt(u64, pc - f.start, f.size));
                else
                    cr_expect(eq(int, status, SFB_NO_FDE));
            }
        }
    }
}

/* Every number of functions up to 70, every pc: all paths of the search. */
Test(fde_find, agrees_with_a_scan_for_every_count)
{
    struct function functions[70];

    for (int32_t i = 0; i < 70; i++)
        functions[i] = (struct function){ i * 8 - 0x100, 5, 0, 1, one_row };
    for (uint32_t count = 0; count <= 70; count++)
        for (size_t i = 0; i < FORM_COUNT; i++) {
            struct layout l = form_of(&forms[i], SFB_SECTION_FDE_SORTED, functions, count);
            struct bytes b = section_bytes(&l);
            struct sfb_section s = opened(&b, ADDRESS);

            for (uint32_t place = 0; place < 8 * 72; place++) {
                const uint64_t pc = ADDRESS - 0x108 + place;
                const bool covered = place >= 8 && (place - 8) / 8 < count && place % 8 < 5;
                struct sfb_fde f = { .index = UINT32_MAX };

                cr_expect(eq(int, sfb_fde_find(&s, pc, &f, NULL), covered ? SFB_OK : SFB_NO_FDE));
                if (covered)
                    cr_expect(eq(u32, f.index, place / 8 - 1));
            }
        }
}

Test(fde_find, reads_at_any_alignment)
{
    static const struct function functions[] = { { 0, 0x10, 0, 1, one_row },
                                                 { 0x10, 0x10, 0, 1, one_row } };
    struct guarded g = guarded_new(1024);

    for (size_t i = 0; i < FORM_COUNT; i++)
        for (size_t shift = 0; shift < 8; shift++) {
            struct layout l = form_of(&forms[i], SFB_SECTION_FDE_SORTED, functions, 2);
            struct bytes b = section_bytes(&l);
            struct sfb_section s;
            struct sfb_fde f;

            cr_assert(eq(
                int, sfb_section_open(&s, guarded_copy(&g, b.at, b.n + shift), b.n, ADDRESS, NULL),
                SFB_OK));
            cr_assert(eq(int, sfb_fde_find(&s, ADDRESS + 0x18, &f, NULL), SFB_OK));
            cr_expect(eq(u64, f.start, ADDRESS + 0x10));
        }
    guarded_free(&g);
}
