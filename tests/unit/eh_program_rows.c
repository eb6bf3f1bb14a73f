/* CFA programs: where rows begin and end, what the CIE says before them, and which registers they
 * follow. */
#include "support/eh_entry.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Registers of x86-64. */
enum { RBX = 3, RBP = 6, RSP = 7, RIP = 16 };

enum { FAR = 99 }; /* the CFA offset behind the advance */

static const struct {
    const char *name;
    const struct item *program;
    uint64_t delta; /* before it is multiplied */
} advances[] = {
    { "1", ITEMS(B(0x41), B(0x0e), U(FAR)), 1 },
    { "63", ITEMS(B(0x7f), B(0x0e), U(FAR)), 63 },
    { "of one byte", ITEMS(B(0x02), B(0xfe), B(0x0e), U(FAR)), 0xfe },
    { "of two bytes", ITEMS(B(0x03), H(0xfedc), B(0x0e), U(FAR)), 0xfedc },
    { "of four bytes", ITEMS(B(0x04), W(0xfedcba98), B(0x0e), U(FAR)), 0xfedcba98 },
    { "of eight bytes", ITEMS(B(0x1d), Q(0xfedcba98), B(0x0e), U(FAR)), 0xfedcba98 },
    { "several", ITEMS(B(0x41), B(0x02), B(5), B(0x03), H(7), B(0x0e), U(FAR)), 13 },
    { "0, and then 1", ITEMS(B(0x40), B(0x0e), U(50), B(0x40), B(0x41), B(0x0e), U(FAR)), 1 },
};

Test(cfi_machine, advances)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (size_t k = 0; k < COUNT(advances); k++) {
            const uint64_t unit = eh_abis[i] == SFB_ABI_AMD64_LE ? 1 : 4;
            const struct entry e = entry_with(eh_abis[i], NULL, advances[k].program);
            const uint64_t at = advances[k].delta * unit;
            struct sfb_cfi_machine m;

            cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, at - 1), SFB_OK), "%s",
                      advances[k].name);
            cr_expect(ne(i32, m.row.cfa_offset, FAR), "%s", advances[k].name);
            cr_expect(eq(u64, m.end, e.fde.start + at), "%s", advances[k].name);
            cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, at), SFB_OK), "%s",
                      advances[k].name);
            cr_expect(eq(i32, m.row.cfa_offset, FAR), "%s", advances[k].name);
            cr_expect(eq(u64, m.start, e.fde.start + at), "%s", advances[k].name);
            cr_expect(eq(u64, m.end, e.fde.end), "%s", advances[k].name);
            cr_expect(eq(int, sfb_cfi_machine_next(&m), SFB_END), "%s", advances[k].name);
            cr_expect(eq(int, sfb_cfi_machine_next(&m), SFB_END), "%s", advances[k].name);
        }
}

/* 2^62 units of 4 bytes would be 0. */
Test(cfi_machine, refuses_an_advance_of_more_than_32_bits)
{
    static const uint64_t deltas[] = { 1ull << 32, 1ull << 62, UINT64_MAX };

    for (size_t k = 0; k < COUNT(deltas); k++) {
        const struct item program[] = { B(0x1d), Q(deltas[k]), { ITEMS_END, 0 } };
        const struct entry e = entry_with(SFB_ABI_AARCH64_LE, NULL, program);
        struct sfb_cfi_machine m;

        cr_expect(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0), SFB_BAD_CFI), "%zu", k);
    }
}

/* DW_CFA_set_loc names an address in the encoding of the entry's. */
Test(cfi_machine, sets_the_location)
{
    static const struct {
        int64_t to; /* from the start of the function */
        enum sfb_status want;
    } locations[] = {
        { 4, SFB_OK },
        { 0, SFB_OK },
        { 0x10000, SFB_OK },
        { -1, SFB_BAD_CFI },
        { -(int64_t)ENTRY_START, SFB_BAD_CFI },
    };

    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (size_t k = 0; k < COUNT(locations); k++) {
            const uint64_t start = ENTRY_START;
            const struct item program[] = {
                B(0x01), Q(start + (uint64_t)locations[k].to), B(0x0e), U(FAR), { ITEMS_END, 0 }
            };
            const struct entry e = entry_with(eh_abis[i], NULL, program);
            struct sfb_cfi_machine m;

            cr_expect(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0x10000), locations[k].want),
                      "%zu", k);
            if (locations[k].want != SFB_OK)
                continue;
            cr_expect(eq(u64, m.start, start + (uint64_t)locations[k].to), "%zu", k);
            cr_expect(eq(i32, m.row.cfa_offset, FAR), "%zu", k);
        }
}

/* Rows end with the function, and one that begins behind it is none. */
Test(cfi_machine, ends_with_the_function)
{
    static const struct item program[] = { B(0x44),       B(0x0e), U(16),  B(0x04),
                                           W(0xffffffff), B(0x0e), U(FAR), { ITEMS_END, 0 } };
    static const uint64_t sizes[] = { 0, 1, 3, 4, 5, 0x100 };

    for (size_t k = 0; k < COUNT(sizes); k++) {
        const struct eh_function f = { ENTRY_START - ENTRY_ADDRESS, sizes[k], program };
        const struct eh_layout l = {
            .abi = SFB_ABI_AMD64_LE, .address = ENTRY_ADDRESS, .count = 1, .functions = &f
        };
        const struct entry e = entry_of(&l);
        struct sfb_cfi_machine m;
        uint64_t at = e.fde.start;
        unsigned rows = 0;

        cr_assert(eq(int,
                     sfb_cfi_machine_init(&m, &e.eh, &e.fde, SFB_CFI_RULE_COLUMNS, entry_cells),
                     SFB_OK));
        while (sfb_cfi_machine_next(&m) == SFB_OK) {
            cr_expect(m.start == at && m.start < m.end, "%zu", k);
            cr_expect(eq(i32, m.row.cfa_offset, rows == 0 ? 8 : 16), "%zu", k);
            at = m.end;
            rows++;
        }
        cr_expect(eq(u64, at, e.fde.end), "%zu", k);
        cr_expect(eq(u32, rows, sizes[k] == 0 ? 0 : sizes[k] <= 4 ? 1 : 2), "%zu", k);
    }
}

Test(cfi_machine, does_not_advance_past_the_end_of_addresses)
{
    const struct {
        const struct item *program;
        enum sfb_status want;
    } cases_here[] = {
        { ITEMS(B(0x41), B(0x0e), U(FAR)), SFB_OK },
        { ITEMS(B(0x04), W(0x10), B(0x0e), U(FAR)), SFB_BAD_CFI }, /* to 0 */
        { ITEMS(B(0x1d), Q(1ull << 32), B(0x0e), U(FAR)), SFB_BAD_CFI },
        { ITEMS(B(0x1d), Q(UINT64_MAX), B(0x0e), U(FAR)), SFB_BAD_CFI },
    };

    for (size_t k = 0; k < COUNT(cases_here); k++) {
        const struct eh_function f = { (int64_t)(UINT64_MAX - 0xf - ENTRY_ADDRESS), 0xf,
                                       cases_here[k].program };
        const struct eh_layout l = { .abi = SFB_ABI_AMD64_LE,
                                     .address = ENTRY_ADDRESS,
                                     .encoding = ABSPTR,
                                     .count = 1,
                                     .functions = &f };
        const struct entry e = entry_of(&l);
        struct sfb_cfi_machine m;

        cr_expect(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 8), cases_here[k].want), "%zu",
                  k);
    }
}

Test(cfi_machine, begins_with_the_instructions_of_the_cie)
{
    static const struct item initial[] = {
        B(0x0c),       U(RSP), U(8),    B(0x80 | RIP), U(1),
        B(0x80 | RBP), U(2),   B(0x0a), B(0xc0 | RBX), { ITEMS_END, 0 },
    };
    /* restore goes back to what the CIE said, and the state that it remembered is there */
    static const struct item program[] = {
        B(0x08), U(RBP), B(0x41), B(0xc0 | RBP), B(0x41),
        B(0x0e), U(64),  B(0x41), B(0x0b),       { ITEMS_END, 0 }
    };
    const struct entry e = entry_with(SFB_ABI_AMD64_LE, initial, program);
    static const struct cell fp[] = { { SFB_CFI_SAME, 0 },
                                      { SFB_CFI_OFFSET, -16 },
                                      { SFB_CFI_OFFSET, -16 },
                                      { SFB_CFI_OFFSET, -16 } };
    static const int32_t cfa[] = { 8, 8, 64, 8 };
    struct sfb_cfi_machine m;

    for (uint64_t at = 0; at < 4; at++) {
        cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, at), SFB_OK));
        expect_cell(&m.cell[SFB_CFI_FP], fp[at], "fp");
        cr_expect(eq(i32, m.row.cfa_offset, cfa[at]));
    }
}

/* A register that the CIE restores was not set before: NVIDIA's compilers write so. */
Test(cfi_machine, restores_in_the_cie)
{
    static const struct item initial[] = { B(0x0c),       U(RSP),        U(8),
                                           B(0x80 | RIP), U(1),          B(0x80 | RBP),
                                           U(2),          B(0xc0 | RBP), { ITEMS_END, 0 } };
    const struct entry e = entry_with(SFB_ABI_AMD64_LE, initial, NULL);
    struct sfb_cfi_machine m;

    cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0), SFB_OK));
    expect_cell(&m.cell[SFB_CFI_FP], (struct cell){ SFB_CFI_UNSET, 0 }, "fp");
}

Test(cfi_machine, refuses_instructions_of_the_cie_that_go_anywhere)
{
    const struct item *const initials[] = {
        ITEMS(B(0x41), B(0x00)),
        ITEMS(B(0x02), B(1), B(0x00)),
        ITEMS(B(0x01), Q(ENTRY_ADDRESS), B(0x00)),
        ITEMS(B(0x3f)),
        ITEMS(B(0x0b)),
    };

    for (size_t k = 0; k < COUNT(initials); k++) {
        const struct entry e = entry_with(SFB_ABI_AARCH64_BE, initials[k], NULL);
        struct sfb_cfi_machine m;

        cr_expect(eq(int,
                     sfb_cfi_machine_init(&m, &e.eh, &e.fde, SFB_CFI_RULE_COLUMNS, entry_cells),
                     SFB_BAD_CFI),
                  "%zu", k);
    }
}

Test(cfi_column, maps_registers)
{
    struct sfb_eh_frame eh = { .abi = SFB_ABI_AMD64_LE };
    struct sfb_cfi_fde fde = { .ra_column = 16 };

    for (uint64_t reg = 0; reg < 300; reg++) {
        unsigned want = UINT8_MAX;

        if (reg == 16)
            want = SFB_CFI_RA;
        else if (reg == 6)
            want = SFB_CFI_FP;
        else if (reg == 7)
            want = SFB_CFI_SP;
        else if (reg == 3)
            want = 3;
        else if (reg >= 12 && reg <= 15)
            want = (unsigned)reg - 8;
        cr_expect(eq(u32, sfb_cfi_column(&eh, &fde, reg), want), "%u", (unsigned)reg);
        cr_expect(eq(u32, sfb_cfi_column(&eh, &fde, reg | 1ull << 32), UINT8_MAX));
    }
    eh.abi = SFB_ABI_AARCH64_BE;
    fde.ra_column = 30;
    for (uint64_t reg = 0; reg < 300; reg++) {
        unsigned want = UINT8_MAX;

        if (reg == 30)
            want = SFB_CFI_RA;
        else if (reg == 29)
            want = SFB_CFI_FP;
        else if (reg == 31)
            want = SFB_CFI_SP;
        else if (reg >= 19 && reg <= 28)
            want = (unsigned)reg - 16;
        cr_expect(eq(u32, sfb_cfi_column(&eh, &fde, reg), want), "%u", (unsigned)reg);
        cr_expect(want == UINT8_MAX || want < SFB_CFI_COLUMNS_MAX);
    }
}

/* All of them, through remember, restore and the CIE. */
Test(cfi_machine, follows_the_registers_that_calls_preserve)
{
    static const struct item initial[] = { B(0x0c),      U(31), U(0),
                                           B(0x80 | 28), U(9),  { ITEMS_END, 0 } };
    static const struct item program[] = {
        B(0x80 | 19), U(1),    B(0x80 | 28), U(2), B(0x0a), B(0x41), B(0xc0 | 19),
        B(0xc0 | 28), B(0x09), U(20),        U(9), B(0x41), B(0x0b), { ITEMS_END, 0 },
    };
    const struct entry e = entry_with(SFB_ABI_AARCH64_LE, initial, program);
    struct sfb_cfi_machine m;

    cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_COLUMNS_MAX, 0), SFB_OK));
    expect_cell(&m.cell[3], (struct cell){ SFB_CFI_OFFSET, -8 }, "x19");
    expect_cell(&m.cell[4], (struct cell){ SFB_CFI_UNSET, 0 }, "x20");
    expect_cell(&m.cell[12], (struct cell){ SFB_CFI_OFFSET, -16 }, "x28");
    cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_COLUMNS_MAX, 4), SFB_OK));
    expect_cell(&m.cell[3], (struct cell){ SFB_CFI_UNSET, 0 }, "x19");
    expect_cell(&m.cell[4], (struct cell){ SFB_CFI_REGISTER, 9 }, "x20");
    expect_cell(&m.cell[12], (struct cell){ SFB_CFI_OFFSET, -72 }, "x28");
    cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_COLUMNS_MAX, 8), SFB_OK));
    expect_cell(&m.cell[3], (struct cell){ SFB_CFI_OFFSET, -8 }, "x19");
    expect_cell(&m.cell[12], (struct cell){ SFB_CFI_OFFSET, -16 }, "x28");
}
