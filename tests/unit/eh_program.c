/* CFA programs: what each instruction does to a row, and what is none. */
#include "support/eh_entry.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Registers of x86-64. */
enum { RBX = 3, RBP = 6, RSP = 7, R9 = 9, RIP = 16 };

/* Zero members: CFA = rsp+8, RA at CFA-8, nothing of rbp and rsp. */
struct want {
    uint8_t cfa_reg; /* + 1 */
    int32_t cfa_offset;
    struct cell ra, fp, sp;
    bool by_expression, too_far;
};

static const struct {
    const char *name;
    const struct item *program;
    struct want want;
} cases[] = {
    { "nothing", NULL, { 0 } },
    { "nop", ITEMS(B(0x00), B(0x00)), { 0 } },
    { "offset", ITEMS(B(0x80 | RBP), U(2)), { .fp = { SFB_CFI_OFFSET, -16 } } },
    { "offset of RA", ITEMS(B(0x80 | RIP), U(3)), { .ra = { SFB_CFI_OFFSET, -24 } } },
    { "offset of sp", ITEMS(B(0x80 | RSP), U(300)), { .sp = { SFB_CFI_OFFSET, -2400 } } },
    { "offset of a register that is not followed", ITEMS(B(0x80 | RBX), U(2)), { 0 } },
    { "offset, extended", ITEMS(B(0x05), U(RBP), U(2)), { .fp = { SFB_CFI_OFFSET, -16 } } },
    { "offset, extended, sf", ITEMS(B(0x11), U(RBP), S(-2)), { .fp = { SFB_CFI_OFFSET, 16 } } },
    { "offset, GNU negative", ITEMS(B(0x2f), U(RBP), U(2)), { .fp = { SFB_CFI_OFFSET, 16 } } },
    { "value offset", ITEMS(B(0x14), U(RSP), U(2)), { .sp = { SFB_CFI_VAL_OFFSET, -16 } } },
    { "value offset, sf", ITEMS(B(0x15), U(RSP), S(-2)), { .sp = { SFB_CFI_VAL_OFFSET, 16 } } },
    { "register", ITEMS(B(0x09), U(RIP), U(R9)), { .ra = { SFB_CFI_REGISTER, R9 } } },
    { "register 254", ITEMS(B(0x09), U(RBP), U(254)), { .fp = { SFB_CFI_REGISTER, 254 } } },
    { "register 255", ITEMS(B(0x09), U(RBP), U(255)), { .fp = { SFB_CFI_REGISTER, 255 } } },
    { "register 2^32", ITEMS(B(0x09), U(RBP), U(1ull << 32)), { .fp = { SFB_CFI_REGISTER, 255 } } },
    { "undefined", ITEMS(B(0x07), U(RIP)), { .ra = { SFB_CFI_UNDEFINED, 0 } } },
    { "same value", ITEMS(B(0x08), U(RBP)), { .fp = { SFB_CFI_SAME, 0 } } },
    { "a column that is rbp's modulo 2^32", ITEMS(B(0x08), U((1ull << 32) + RBP)), { 0 } },
    { "restore", ITEMS(B(0x07), U(RIP), B(0x80 | RBP), U(2), B(0xc0 | RIP), B(0xc0 | RBP)), { 0 } },
    { "restore, extended", ITEMS(B(0x07), U(RIP), B(0x06), U(RIP), B(0x06), U(RBX)), { 0 } },
    { "CFA", ITEMS(B(0x0c), U(RBP), U(16)), { .cfa_reg = RBP + 1, .cfa_offset = 16 } },
    { "CFA, sf", ITEMS(B(0x12), U(RBP), S(-2)), { .cfa_reg = RBP + 1, .cfa_offset = 16 } },
    { "CFA register", ITEMS(B(0x0d), U(RBX)), { .cfa_reg = RBX + 1, .cfa_offset = 8 } },
    { "CFA register 2^32+7",
      ITEMS(B(0x0d), U((1ull << 32) + 7)),
      { .cfa_reg = 0, .cfa_offset = 8 } }, /* 255 + 1 */
    { "CFA offset", ITEMS(B(0x0e), U(300)), { .cfa_offset = 300 } },
    { "CFA offset, sf", ITEMS(B(0x13), S(3)), { .cfa_offset = -24 } },
    { "size of arguments", ITEMS(B(0x2e), U(300)), { 0 } },
    { "expression for the CFA", ITEMS(B(0x0f), U(2), B(0x76), S(0)), { .by_expression = true } },
    { "register behind an expression: the offset is that of before",
      ITEMS(B(0x0e), U(56), B(0x0f), U(2), B(0x76), S(0), B(0x0d), U(RBP)),
      { .cfa_reg = RBP + 1, .cfa_offset = 56 } },
    { "offset behind an expression: it stays the expression",
      ITEMS(B(0x0f), U(2), B(0x76), S(0), B(0x0e), U(56)),
      { .by_expression = true, .cfa_offset = 56 } },
    { "offset, sf, behind an expression, then a register",
      ITEMS(B(0x0f), U(2), B(0x76), S(0), B(0x13), S(-7), B(0x0d), U(RBP)),
      { .cfa_reg = RBP + 1, .cfa_offset = 56 } },
    { "remember and restore",
      ITEMS(B(0x0a), B(0x0c), U(RBP), U(16), B(0x07), U(RIP), B(0x0b)),
      { 0 } },
    { "remember twice",
      ITEMS(B(0x0e), U(16), B(0x0a), B(0x0e), U(24), B(0x0a), B(0x0e), U(32), B(0x0b)),
      { .cfa_offset = 24 } },
    { "remember twice, restore twice",
      ITEMS(B(0x0e), U(16), B(0x0a), B(0x0e), U(24), B(0x0a), B(0x0e), U(32), B(0x0b), B(0x0b)),
      { .cfa_offset = 16 } },
    { "remember again and again",
      ITEMS(B(0x0a), B(0x0b), B(0x0a), B(0x0b), B(0x0a), B(0x0b)),
      { 0 } },
    { "restore of a register behind restore_state",
      ITEMS(B(0x80 | RBP), U(2), B(0x0a), B(0xc0 | RBP), B(0x0b), B(0xc0 | RBP)),
      { 0 } },
    { "largest offset",
      ITEMS(B(0x80 | RBP), U(1u << 28)),
      { .fp = { SFB_CFI_OFFSET, INT32_MIN } } },
    { "offset too far", ITEMS(B(0x80 | RBP), U((1u << 28) + 1)), { .fp = { SFB_CFI_TOO_FAR, 0 } } },
    { "offset that wraps", ITEMS(B(0x80 | RBP), U(1ull << 61)), { .fp = { SFB_CFI_TOO_FAR, 0 } } },
    { "offset of 2^64-1", ITEMS(B(0x80 | RBP), U(UINT64_MAX)), { .fp = { SFB_CFI_TOO_FAR, 0 } } },
    { "value offset too far",
      ITEMS(B(0x15), U(RBP), S(INT64_MIN)),
      { .fp = { SFB_CFI_TOO_FAR, 0 } } },
    { "negative offset too far",
      ITEMS(B(0x2f), U(RBP), U(1u << 28)),
      { .fp = { SFB_CFI_TOO_FAR, 0 } } },
    { "largest CFA offset", ITEMS(B(0x0e), U(INT32_MAX)), { .cfa_offset = INT32_MAX } },
    { "CFA offset too far", ITEMS(B(0x0e), U(1u << 31)), { .too_far = true } },
    { "CFA offset of 2^64-1", ITEMS(B(0x0e), U(UINT64_MAX)), { .too_far = true } },
    { "CFA too far, and near again", ITEMS(B(0x0e), U(1ull << 40), B(0x0e), U(8)), { 0 } },
};

Test(cfi_machine, does_what_each_instruction_says)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, cases[i].program);
        const char *name = cases[i].name;
        struct want w = cases[i].want;
        struct sfb_cfi_machine m;

        if (w.cfa_reg == 0)
            w.cfa_reg = strstr(name, "2^32+7") ? 0 : RSP + 1;
        if (w.cfa_offset == 0)
            w.cfa_offset = 8;
        if (w.ra.how == SFB_CFI_UNSET)
            w.ra = (struct cell){ SFB_CFI_OFFSET, -8 };
        cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0), SFB_OK), "%s", name);
        cr_expect(eq(u64, m.start, e.fde.start), "%s", name);
        cr_expect(eq(u64, m.end, e.fde.end), "%s", name);
        cr_expect(eq(int, m.row.cfa_by_expression, w.by_expression), "%s", name);
        cr_expect(eq(int, m.row.cfa_too_far, w.too_far), "%s", name);
        if (!w.too_far)
            cr_expect(eq(i32, m.row.cfa_offset, w.cfa_offset), "%s", name);
        if (!w.by_expression)
            cr_expect(eq(int, m.row.cfa_reg, (uint8_t)(w.cfa_reg - 1)), "%s", name);
        expect_cell(&m.cell[SFB_CFI_RA], w.ra, name);
        expect_cell(&m.cell[SFB_CFI_FP], w.fp, name);
        expect_cell(&m.cell[SFB_CFI_SP], w.sp, name);
        cr_expect(eq(int, m.row.ra_signed, false), "%s", name);
    }
}

/* rax and rdx, x0 to x3: for __builtin_eh_return() alone. Once saved, also where they are restored. */
Test(cfi_machine, tells_functions_that_return_to_a_handler)
{
    const struct {
        enum sfb_abi abi;
        const struct item *program;
        bool want;
    } programs[] = {
        { SFB_ABI_AMD64_LE, ITEMS(B(0x80 | RBP), U(2)), false },
        { SFB_ABI_AMD64_LE, ITEMS(B(0x80 | 0), U(2)), true },
        { SFB_ABI_AMD64_LE, ITEMS(B(0x80 | 1), U(2), B(0xc0 | 1)), true },
        { SFB_ABI_AMD64_LE, ITEMS(B(0x80 | 2), U(2)), false },
        { SFB_ABI_AMD64_LE, ITEMS(B(0x05), U(1), U(2)), true },
        { SFB_ABI_AMD64_LE, ITEMS(B(0x09), U(1), U(2)), false },
        { SFB_ABI_AARCH64_LE, ITEMS(B(0x80 | 3), U(2)), true },
        { SFB_ABI_AARCH64_LE, ITEMS(B(0x80 | 4), U(2)), false },
    };

    for (size_t i = 0; i < COUNT(programs); i++) {
        const struct entry e = entry_with(programs[i].abi, NULL, programs[i].program);
        struct sfb_cfi_machine m;

        cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0), SFB_OK), "%zu", i);
        cr_expect(eq(int, m.eh_return, programs[i].want), "%zu", i);
    }
}

Test(cfi_machine, keeps_the_place_of_expressions)
{
    static const struct item program[] = {
        B(0x0f), U(3), B(0x77),    S(8),    B(0x06), B(0x10), U(RBP),           U(130),
        B(0x76), S(0), ZEROS(128), B(0x16), U(RSP),  U(0),    { ITEMS_END, 0 },
    };
    const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, program);
    struct sfb_cfi_machine m;

    cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0), SFB_OK));
    cr_expect(eq(int, m.cell[SFB_CFI_FP].how, SFB_CFI_EXPRESSION));
    cr_expect(eq(int, m.cell[SFB_CFI_SP].how, SFB_CFI_VAL_EXPRESSION));
    cr_expect(eq(u32, m.row.cfa_expression, e.fde.program + 1));
    cr_expect(eq(i32, m.cell[SFB_CFI_FP].offset, (int32_t)e.fde.program + 1 + 4 + 2));
    cr_expect(eq(i32, m.cell[SFB_CFI_SP].offset, (int32_t)e.fde.program + 1 + 4 + 2 + 132 + 2));
}

/* Whether an instruction whose operands are all zero is one. */
static bool is_instruction(unsigned op, enum sfb_abi abi)
{
    if (op == 0x2c || op == 0x2d)
        return abi != SFB_ABI_AMD64_LE;
    return op >= 0x40 || op <= 0x16 || op == 0x1d || op == 0x2e || op == 0x2f;
}

Test(cfi_machine, refuses_what_is_no_instruction)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (unsigned op = 0; op < 256; op++) {
            const struct item remember = { BYTES_1, op == 0x0b ? 0x0a : 0 };
            const struct item program[] = { remember, B(op), ZEROS(16), { ITEMS_END, 0 } };
            const struct entry e = entry_with(eh_abis[i], NULL, program);
            struct sfb_cfi_machine m;
            /* To address 0: backwards. */
            const bool known = is_instruction(op, eh_abis[i]) && op != 0x01;

            cr_expect(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 1 << 20),
                         known ? SFB_OK : SFB_BAD_CFI),
                      "%#x", op);
        }
}

Test(cfi_machine, refuses_states_that_nobody_remembered_and_too_many)
{
    const struct {
        const struct item *program;
        enum sfb_status want;
    } states[] = {
        { ITEMS(B(0x0b)), SFB_BAD_CFI },
        { ITEMS(B(0x0a), B(0x0b), B(0x0b)), SFB_BAD_CFI },
        { ITEMS(B(0x0a), B(0x0a)), SFB_OK },
        { ITEMS(B(0x0a), B(0x0a), B(0x0a)), SFB_BAD_CFI },
        { ITEMS(B(0x0a), B(0x0a), B(0x0b), B(0x0a)), SFB_OK },
        /* Rows before it are good. */
        { ITEMS(B(0x41), B(0x0b)), SFB_OK },
    };

    for (size_t i = 0; i < COUNT(states); i++) {
        const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, states[i].program);
        struct sfb_cfi_machine m;

        cr_expect(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0), states[i].want), "%zu", i);
    }
}

Test(cfi_machine, toggles_the_state_of_the_return_address)
{
    static const struct item program[] = {
        B(0x2d), B(0x41), B(0x0a), B(0x41), B(0x2d), B(0x41), B(0x0b),          B(0x41),
        B(0x2c), B(0x41), B(0x2d), B(0x2d), B(0x41), B(0x2d), { ITEMS_END, 0 },
    };
    static const bool want[] = { true, true, false, true, false, false, true };

    for (size_t i = 0; i < 2; i++) {
        const struct entry e = entry_with(eh_abis[i], NULL, program);

        for (size_t k = 0; k < COUNT(want); k++) {
            struct sfb_cfi_machine m;

            cr_assert(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, k * 4), SFB_OK));
            cr_expect(eq(int, m.row.ra_signed, want[k]), "%zu", k);
        }
    }
}

/* Of every instruction with operands, all its bytes but some at the end. */
Test(cfi_machine, refuses_every_proper_prefix_of_an_instruction)
{
    const struct item *const instructions[] = {
        ITEMS(B(0x80), U(300)),
        ITEMS(B(0x01), Q(ENTRY_START)),
        ITEMS(B(0x02), B(1)),
        ITEMS(B(0x03), H(1)),
        ITEMS(B(0x04), W(1)),
        ITEMS(B(0x1d), Q(1)),
        ITEMS(B(0x05), U(300), U(300)),
        ITEMS(B(0x06), U(300)),
        ITEMS(B(0x07), U(300)),
        ITEMS(B(0x08), U(300)),
        ITEMS(B(0x09), U(300), U(300)),
        ITEMS(B(0x0c), U(300), U(300)),
        ITEMS(B(0x0d), U(300)),
        ITEMS(B(0x0e), U(300)),
        ITEMS(B(0x0f), U(3), B(0x77), S(8), B(6)),
        ITEMS(B(0x10), U(300), U(3), B(0x77), S(8), B(6)),
        ITEMS(B(0x11), U(300), S(-300)),
        ITEMS(B(0x12), U(300), S(-300)),
        ITEMS(B(0x13), S(-300)),
        ITEMS(B(0x14), U(300), U(300)),
        ITEMS(B(0x15), U(300), S(-300)),
        ITEMS(B(0x16), U(300), U(3), B(0x77), S(8), B(6)),
        ITEMS(B(0x2e), U(300)),
        ITEMS(B(0x2f), U(300), U(300)),
    };

    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (size_t k = 0; k < COUNT(instructions); k++) {
            uint8_t bytes[32];
            const size_t size = eh_items_put(bytes, sizeof bytes, instructions[k], eh_abis[i]);

            for (size_t n = 1; n <= size; n++) {
                const struct eh_function f = { ENTRY_START - ENTRY_ADDRESS, ENTRY_SIZE,
                                               instructions[k] };
                const struct eh_layout l = { .abi = eh_abis[i],
                                             .address = ENTRY_ADDRESS,
                                             .encoding = ABSPTR,
                                             .count = 1,
                                             .functions = &f };
                struct eh_bytes b = eh_frame_bytes(&l);
                const size_t at = b.fde[0] + 4 + 4 + 8 + 8 + 1;
                struct guarded g = guarded_new(sizeof b.at);
                struct sfb_eh_frame eh;
                struct sfb_cfi_fde fde;
                struct sfb_cfi_machine m;
                enum sfb_status status;

                b.n = at + n;
                eh_bytes_set(&b, b.fde[0], 4, b.n - b.fde[0] - 4);
                cr_assert(
                    eq(int, eh_bytes_open(&eh, &b, guarded_copy(&g, b.at, b.n), b.n), SFB_OK));
                cr_assert(eq(int, sfb_eh_frame_fde(&eh, 0, &fde, NULL), SFB_OK));
                cr_assert(eq(int,
                             sfb_cfi_machine_init(&m, &eh, &fde, SFB_CFI_COLUMNS_MAX, entry_cells),
                             SFB_OK));
                status = sfb_cfi_machine_next(&m);
                cr_expect(eq(int, status, n < size ? SFB_BAD_CFI : SFB_OK), "%zu, %zu bytes", k, n);
                guarded_free(&g);
            }
        }
}

/* A block that is longer than its entry, though not than the segment, or than 64 bits. */
Test(cfi_machine, refuses_expressions_that_are_too_long)
{
    static const uint64_t sizes[] = { 1, 100, UINT32_MAX, 1ull << 32, UINT64_MAX };

    for (size_t k = 0; k < COUNT(sizes); k++) {
        const struct item program[] = { B(0x0f), U(sizes[k]), { ITEMS_END, 0 } };
        struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, program);
        struct sfb_cfi_machine m;

        e.fde.program_end = e.fde.program + 2; /* without padding */
        cr_expect(eq(int, entry_run(&m, &e, SFB_CFI_RULE_COLUMNS, 0), SFB_BAD_CFI), "%zu", k);
    }
}

/* Each byte of a program set to every value: it stays inside, and its rows join. */
Test(cfi_machine, stays_inside_of_corrupt_programs)
{
    static const struct item program[] = {
        B(0x41),
        B(0x0e),
        U(16),
        B(0x80 | RBP),
        U(2),
        B(0x43),
        B(0x0d),
        U(RBP),
        B(0x0a),
        B(0x02),
        B(9),
        B(0xc0 | RBP),
        B(0x0c),
        U(RSP),
        U(8),
        B(0x41),
        B(0x0b),
        B(0x0f),
        U(3),
        B(0x77),
        S(8),
        B(6),
        B(0x41),
        B(0x10),
        U(RBP),
        U(2),
        B(0x76),
        S(0),
        { ITEMS_END, 0 },
    };
    const struct entry good = entry_with(SFB_ABI_AMD64_LE, NULL, program);
    struct guarded g = guarded_new(sizeof good.b.at);

    for (uint32_t at = good.fde.initial; at < good.b.n; at++)
        for (unsigned value = 0; value < 256; value++) {
            uint8_t *copy = guarded_copy(&g, good.b.at, good.b.n);
            struct sfb_eh_frame eh = good.eh;
            struct sfb_cfi_machine m;
            uint64_t end = good.fde.start;

            copy[at] = (uint8_t)value;
            eh.data = copy;
            if (sfb_cfi_machine_init(&m, &eh, &good.fde, SFB_CFI_COLUMNS_MAX, entry_cells) !=
                SFB_OK)
                continue;
            while (sfb_cfi_machine_next(&m) == SFB_OK) {
                struct sfb_rule rule;

                cr_expect(m.start == end && m.start < m.end && m.end <= good.fde.end);
                end = m.end;
                sfb_cfi_row_rule(&rule, &m, m.start);
            }
        }
    guarded_free(&g);
}
