/* Walks over all entries of .eh_frame: sections without a table, with terminators, cut and damaged. */
#include <stdlib.h>
#include <string.h>

#include "support/eh_frame_bytes.h"
#include "support/guarded.h"
#include "support/test.h"

#define ADDRESS      0x555555554000u
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { FUNCTIONS = 3, SIZE_MAX_HERE = 4096 };

static const struct eh_function functions[FUNCTIONS] = {
    { -0x3000, 0x10, ITEMS(B(0x41), B(0x0e), U(16)) },
    { -0x2000, 0x20, ITEMS(B(0x44), B(0x0e), U(32), B(0x44), B(0x0e), U(8)) },
    { -0x1000, 0x30, ITEMS(B(0)) },
};

static struct eh_bytes bytes_of(enum sfb_abi abi, bool long_lengths)
{
    const struct eh_layout l = { .abi = abi,
                                 .address = ADDRESS,
                                 .gap = 4,
                                 .count = FUNCTIONS,
                                 .functions = functions,
                                 .long_lengths = long_lengths };

    return eh_frame_bytes(&l);
}

/* The section alone, in memory that ends where it does. */
static void start(struct sfb_eh_frame_walk *walk, const struct eh_bytes *b, size_t size)
{
    static struct guarded g;

    if (!g.map)
        g = guarded_new(SIZE_MAX_HERE);
    cr_assert(eq(int,
                 sfb_eh_frame_walk_init(walk, guarded_copy(&g, b->at + b->cie, size), size,
                                        b->address + b->cie, b->abi),
                 SFB_OK));
}

static void expect_function(const struct eh_bytes *b, const struct sfb_cfi_fde *fde, size_t i)
{
    const uint64_t code = b->address + b->hdr + (uint64_t)functions[i].start;

    cr_expect(eq(u64, fde->start, code), "%zu", i);
    cr_expect(eq(u64, fde->end, code + functions[i].size), "%zu", i);
    cr_expect(eq(u32, fde->offset, (uint32_t)(b->fde[i] - b->cie)), "%zu", i);
    cr_expect(eq(u32, fde->cie_offset, 0), "%zu", i);
}

Test(eh_walk, gives_all_functions_as_they_stand)
{
    for (size_t a = 0; a < COUNT(eh_abis); a++)
        for (int is_long = 0; is_long < 2; is_long++) {
            const struct eh_bytes b = bytes_of(eh_abis[a], is_long);
            struct sfb_eh_frame_walk walk;
            struct sfb_cfi_fde fde;

            start(&walk, &b, b.n - b.cie);
            for (size_t i = 0; i < FUNCTIONS; i++) {
                cr_assert(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_OK));
                expect_function(&b, &fde, i);
            }
            cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_END));
            cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_END));
        }
}

/* The rows of an entry are those that the table leads to; and nothing is looked up without one. */
Test(eh_walk, leads_to_the_same_rows_as_the_table)
{
    for (size_t a = 0; a < COUNT(eh_abis); a++) {
        const struct eh_bytes b = bytes_of(eh_abis[a], false);
        struct sfb_eh_frame_walk walk;
        struct sfb_eh_frame eh;
        struct sfb_cfi_fde fde;
        size_t rows_seen = 0;

        cr_assert(eq(int, eh_bytes_open(&eh, &b, b.at, b.n), SFB_OK));
        start(&walk, &b, b.n - b.cie);
        while (sfb_eh_frame_walk_next(&walk, &fde, NULL) == SFB_OK) {
            struct sfb_rule here, there;
            struct sfb_cfi_rows rows;

            cr_assert(eq(int, sfb_cfi_rows_init(&rows, &walk.eh, &fde, NULL), SFB_OK));
            for (; sfb_cfi_rows_next(&rows, NULL) == SFB_OK; rows_seen++) {
                cr_assert(eq(int, sfb_cfi_rows_rule(&rows, rows.start, &here, NULL), SFB_OK));
                cr_assert(eq(int, sfb_eh_frame_find(&eh, rows.start, &there, NULL), SFB_OK));
                cr_expect(eq(int, memcmp(&here, &there, sizeof here), 0));
            }
            cr_expect(eq(int, sfb_eh_frame_find(&walk.eh, fde.start, &here, NULL), SFB_NO_CFI));
        }
        cr_expect_gt(rows_seen, FUNCTIONS);
    }
}

/* Two sections of which the first ends in a terminator, as linkers that do not merge leave them. */
Test(eh_walk, passes_over_terminators)
{
    for (size_t a = 0; a < COUNT(eh_abis); a++) {
        struct eh_bytes b = bytes_of(eh_abis[a], false);
        const size_t size = b.n - b.cie;
        struct sfb_eh_frame_walk walk;
        struct sfb_cfi_fde fde;

        cr_assert(le(sz, b.n + 4 + size + 4, sizeof b.at));
        memcpy(b.at + b.n + 4, b.at + b.cie, size);
        start(&walk, &b, size + 4 + size + 4);
        for (size_t i = 0; i < 2 * FUNCTIONS; i++) {
            const uint64_t shift = i < FUNCTIONS ? 0 : size + 4;

            cr_assert(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_OK), "%zu", i);
            cr_expect(eq(u64, fde.cie_offset, shift));
            fde.start -= shift; /* they count from their fields */
            fde.end -= shift;
            fde.offset -= (uint32_t)shift;
            fde.cie_offset = 0;
            expect_function(&b, &fde, i % FUNCTIONS);
        }
        cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_END));
    }
}

Test(eh_walk, goes_on_behind_a_corrupt_entry)
{
    static const struct {
        const char *name;
        size_t at; /* in the second entry */
        uint64_t value;
    } cases[] = {
        { "a CIE before the section", 4, 0x7fffffff },
        { "a CIE that is none", 4, 0 }, /* the entry before */
        { "code that wraps", 12, 0xffffffff },
    };

    for (size_t a = 0; a < COUNT(eh_abis); a++)
        for (size_t c = 0; c < COUNT(cases); c++) {
            struct sfb_error error = { SFB_OK, NULL, 0 };
            struct eh_bytes b = bytes_of(eh_abis[a], false);
            struct sfb_eh_frame_walk walk;
            struct sfb_cfi_fde fde;

            eh_bytes_set(&b, b.fde[1] + cases[c].at, 4,
                         cases[c].value ? cases[c].value : b.fde[1] + 4 - b.fde[0]);
            start(&walk, &b, b.n - b.cie);
            cr_assert(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_OK));
            cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, &fde, &error), SFB_BAD_CFI), "%s",
                      cases[c].name);
            cr_expect(eq(int, error.status, SFB_BAD_CFI), "%s", cases[c].name);
            cr_assert(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_OK), "%s",
                      cases[c].name);
            expect_function(&b, &fde, 2);
            cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_END));
        }
}

/* All entries that are whole, then the one that is cut, then the end. */
Test(eh_walk, ends_at_an_entry_that_ends_past_the_section)
{
    for (size_t a = 0; a < COUNT(eh_abis); a++) {
        const struct eh_bytes b = bytes_of(eh_abis[a], false);

        for (size_t size = 0; size < b.n - b.cie; size++) {
            struct sfb_error error = { SFB_OK, NULL, 0 };
            struct sfb_eh_frame_walk walk;
            struct sfb_cfi_fde fde;
            bool cut = size > 0 && size != b.cie_end - b.cie;
            size_t whole = 0;
            enum sfb_status status;

            while (whole < FUNCTIONS - 1 && b.fde[whole + 1] - b.cie <= size)
                cut &= size != b.fde[++whole] - b.cie;
            start(&walk, &b, size);
            for (size_t i = 0; i < whole; i++)
                cr_assert(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_OK));
            status = sfb_eh_frame_walk_next(&walk, &fde, &error);
            cr_expect(eq(int, status, cut ? SFB_TRUNCATED : SFB_END), "%zu", size);
            cr_expect(eq(int, error.status, cut ? SFB_TRUNCATED : SFB_OK), "%zu", size);
            cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_END), "%zu", size);
        }
    }
}

/* 4 MiB of instructions that are those of 200 functions: all of it would be read 200 times. */
Test(eh_walk, has_a_limit)
{
    enum { CIE = 4 << 20, FDE = 24, FDES = 200, ALL = 4 + CIE + FDES * FDE };
    static const uint8_t cie[] = { 0, 0, 0, 0, 1, 0, 1, 0x78, 16 };
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_eh_frame_walk walk;
    struct sfb_cfi_fde fde;
    uint8_t *b = calloc(1, ALL);
    enum sfb_status status;
    unsigned seen = 0;

    cr_assert(b != NULL);
    memcpy(b, &(uint32_t){ CIE }, 4);
    memcpy(b + 4, cie, sizeof cie);
    for (uint32_t i = 0; i < FDES; i++) {
        const uint32_t at = 4 + CIE + i * FDE, fields[] = { FDE - 4, at + 4, 0x1000 * i, 0, 0x10 };

        memcpy(b + at, fields, sizeof fields);
    }
    cr_assert(eq(int, sfb_eh_frame_walk_init(&walk, b, ALL, ADDRESS, SFB_ABI_AMD64_LE), SFB_OK));
    while ((status = sfb_eh_frame_walk_next(&walk, &fde, &error)) == SFB_OK)
        seen++;
    cr_expect(eq(int, status, SFB_WORK_LIMIT));
    cr_expect(eq(int, error.status, SFB_WORK_LIMIT));
    cr_expect(seen > 50 && seen < 100, "%u", seen);
    cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, &fde, NULL), SFB_END));
    free(b);
}

Test(eh_walk, refuses_bad_arguments)
{
    const struct eh_bytes b = bytes_of(SFB_ABI_AMD64_LE, false);
    struct sfb_eh_frame_walk walk;
    struct sfb_cfi_fde fde;

    cr_expect(eq(int, sfb_eh_frame_walk_init(NULL, b.at, 1, 0, b.abi), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_eh_frame_walk_init(&walk, NULL, 1, 0, b.abi), SFB_BAD_ARGUMENT));
    cr_expect(
        eq(int, sfb_eh_frame_walk_init(&walk, b.at, (size_t)1 << 32, 0, b.abi), SFB_BAD_ARGUMENT));
    start(&walk, &b, b.n - b.cie);
    cr_expect(eq(int, sfb_eh_frame_walk_next(NULL, &fde, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_eh_frame_walk_next(&walk, NULL, NULL), SFB_BAD_ARGUMENT));
}
