/* Rows to rules, and the search from a pc to a rule. */
#include "support/eh_entry.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Registers of x86-64, and of AArch64. */
enum { RBX = 3, RBP = 6, RSP = 7, R9 = 9, RIP = 16, X15 = 15, X29 = 29, X30 = 30, X31 = 31 };

enum {
    OUTERMOST = SFB_RULE_OUTERMOST,
    SIGNED = SFB_RULE_RA_SIGNED,
    DEREF = SFB_RULE_CFA_DEREF,
    GENERAL = SFB_RULE_ANY_REGISTER
};

/* The usual rule of x86-64: CFA = rsp+8, RA at CFA-8. */
#define USUAL .cfa_offset = 8, .ra.where = SFB_WHERE_CFA, .ra.offset = -8

static const struct {
    const char *name;
    const struct item *program;
    enum sfb_status want;
    struct sfb_rule rule;
} cases[] = {
    { "nothing", NULL, SFB_OK, { USUAL } },
    { "CFA = rbp+16, rbp stored",
      ITEMS(B(0x0c), U(RBP), U(16), B(0x86), U(2)),
      SFB_OK,
      { .cfa_base = SFB_BASE_FP,
        .cfa_offset = 16,
        .ra.where = SFB_WHERE_CFA,
        .ra.offset = -8,
        .fp.where = SFB_WHERE_CFA,
        .fp.offset = -16 } },
    { "CFA = rbx+32, as for lazy binding",
      ITEMS(B(0x0c), U(RBX), U(32)),
      SFB_OK,
      { .cfa_base = SFB_BASE_REG,
        .cfa_reg = RBX,
        .cfa_offset = 32,
        .ra.where = SFB_WHERE_CFA,
        .ra.offset = -8,
        .flags = GENERAL } },
    { "CFA below rsp",
      ITEMS(B(0x13), S(1)),
      SFB_OK,
      { .cfa_offset = -8, .ra.where = SFB_WHERE_CFA, .ra.offset = -8 } },
    { "CFA too far", ITEMS(B(0x0e), U(1ull << 31)), SFB_NOT_EXPRESSIBLE, { 0 } },
    { "DRAP",
      ITEMS(B(0x0f), U(3), B(0x76), S(-8), B(6), B(0x10), U(RBP), U(2), B(0x76), S(0)),
      SFB_OK,
      { .cfa_base = SFB_BASE_FP,
        .cfa_offset = -8,
        .ra.where = SFB_WHERE_CFA,
        .ra.offset = -8,
        .fp.where = SFB_WHERE_AT_REG,
        .fp.reg = RBP,
        .flags = DEREF | GENERAL } },
    { "CFA at rsp+40, +8",
      ITEMS(B(0x0f), U(5), B(0x77), S(40), B(6), B(0x23), U(8)),
      SFB_OK,
      { .cfa_offset = 40,
        .cfa_add = 8,
        .ra.where = SFB_WHERE_CFA,
        .ra.offset = -8,
        .flags = DEREF | GENERAL } },
    { "CFA by an expression that is plain",
      ITEMS(B(0x0f), U(2), B(0x77), S(16)),
      SFB_OK,
      { .cfa_offset = 16, .ra.where = SFB_WHERE_CFA, .ra.offset = -8 } },
    { "CFA at r9",
      ITEMS(B(0x0f), U(3), B(0x79), S(0), B(6)),
      SFB_OK,
      { .cfa_base = SFB_BASE_REG,
        .cfa_reg = R9,
        .ra.where = SFB_WHERE_CFA,
        .ra.offset = -8,
        .flags = DEREF | GENERAL } },
    { "CFA of two registers",
      ITEMS(B(0x0f), U(5), B(0x77), S(8), B(0x79), S(0), B(0x22)),
      SFB_NOT_EXPRESSIBLE,
      { 0 } },
    { "CFA that is a number", ITEMS(B(0x0f), U(1), B(0x38)), SFB_NOT_EXPRESSIBLE, { 0 } },
    { "CFA beyond 32 bits",
      ITEMS(B(0x0f), U(6), B(0x77), S(1ull << 31)),
      SFB_NOT_EXPRESSIBLE,
      { 0 } },
    { "CFA of no expression", ITEMS(B(0x0f), U(0)), SFB_BAD_CFI, { 0 } },
    { "RA undefined", ITEMS(B(0x07), U(RIP)), SFB_OK, { .flags = OUTERMOST } },
    { "RA undefined, and what it says besides", /* which could not be expressed */
      ITEMS(B(0x07), U(RIP), B(0x0f), U(1), B(0x38), B(0x86), U(1ull << 40)),
      SFB_OK,
      { .flags = OUTERMOST } },
    { "RA in a register, as in vfork",
      ITEMS(B(0x09), U(RIP), U(R9)),
      SFB_OK,
      { .cfa_offset = 8, .ra.where = SFB_WHERE_IS_REG, .ra.reg = R9, .flags = GENERAL } },
    { "RA at another place",
      ITEMS(B(0x90), U(3)),
      SFB_OK,
      { .cfa_offset = 8, .ra.where = SFB_WHERE_CFA, .ra.offset = -24 } },
    { "RA that is the CFA - 8",
      ITEMS(B(0x14), U(RIP), U(1)),
      SFB_OK,
      { .cfa_offset = 8, .ra.where = SFB_WHERE_IS_CFA, .ra.offset = -8, .flags = GENERAL } },
    { "RA at rsp+168, as in a signal frame",
      ITEMS(B(0x10), U(RIP), U(3), B(0x77), S(168)),
      SFB_OK,
      { .cfa_offset = 8,
        .ra.where = SFB_WHERE_AT_REG,
        .ra.reg = RSP,
        .ra.offset = 168,
        .flags = GENERAL } },
    { "RA at the CFA + 24",
      ITEMS(B(0x10), U(RIP), U(2), B(0x23), U(24)),
      SFB_OK,
      { .cfa_offset = 8, .ra.where = SFB_WHERE_CFA, .ra.offset = 24 } },
    { "RA at the word at rsp",
      ITEMS(B(0x10), U(RIP), U(3), B(0x77), S(0), B(6)),
      SFB_NOT_EXPRESSIBLE,
      { 0 } },
    { "RA that is the word at rsp",
      ITEMS(B(0x16), U(RIP), U(3), B(0x77), S(0), B(6)),
      SFB_OK,
      { .cfa_offset = 8, .ra.where = SFB_WHERE_AT_REG, .ra.reg = RSP, .flags = GENERAL } },
    { "RA that is the word at rsp, and more",
      ITEMS(B(0x16), U(RIP), U(5), B(0x77), S(0), B(6), B(0x23), U(1)),
      SFB_NOT_EXPRESSIBLE,
      { 0 } },
    { "RA that is a number", ITEMS(B(0x16), U(RIP), U(1), B(0x38)), SFB_NOT_EXPRESSIBLE, { 0 } },
    { "RA the same", ITEMS(B(0x08), U(RIP)), SFB_OK, { .cfa_offset = 8 } },
    { "rbp the same", ITEMS(B(0x86), U(2), B(0x08), U(RBP)), SFB_OK, { USUAL } },
    { "rbp undefined", ITEMS(B(0x86), U(2), B(0x07), U(RBP)), SFB_OK, { USUAL } },
    { "rbp in r9, as in longjmp",
      ITEMS(B(0x09), U(RBP), U(R9)),
      SFB_OK,
      { USUAL, .fp.where = SFB_WHERE_IS_REG, .fp.reg = R9, .flags = GENERAL } },
    { "rbp in rbp",
      ITEMS(B(0x09), U(RBP), U(RBP)),
      SFB_OK,
      { USUAL, .fp.where = SFB_WHERE_IS_REG, .fp.reg = RBP, .flags = GENERAL } },
    { "rbp is the CFA",
      ITEMS(B(0x16), U(RBP), U(0)),
      SFB_OK,
      { USUAL, .fp.where = SFB_WHERE_IS_CFA, .flags = GENERAL } },
    { "rbp too far", ITEMS(B(0x86), U(1ull << 40)), SFB_NOT_EXPRESSIBLE, { 0 } },
    { "rbp of no expression", ITEMS(B(0x10), U(RBP), U(1), B(0x13)), SFB_BAD_CFI, { 0 } },
    { "rsp is the CFA - 16",
      ITEMS(B(0x14), U(RSP), U(2)),
      SFB_OK,
      { USUAL, .sp.where = SFB_WHERE_IS_CFA, .sp.offset = -16, .flags = GENERAL } },
    { "rsp in r9, as in longjmp",
      ITEMS(B(0x09), U(RSP), U(R9)),
      SFB_OK,
      { USUAL, .sp.where = SFB_WHERE_IS_REG, .sp.reg = R9, .flags = GENERAL } },
    { "rsp stored",
      ITEMS(B(0x87), U(3)),
      SFB_OK,
      { USUAL, .sp.where = SFB_WHERE_CFA, .sp.offset = -24, .flags = GENERAL } },
    { "rsp is rax+8",
      ITEMS(B(0x16), U(RSP), U(2), B(0x70), S(8)),
      SFB_OK,
      { USUAL, .sp.where = SFB_WHERE_IS_REG, .sp.offset = 8, .flags = GENERAL } },
    { "rsp the same", ITEMS(B(0x08), U(RSP)), SFB_OK, { USUAL } },
};

/* Offsets and registers of what is nowhere say nothing. */
static bool same(const struct sfb_rule *a, const struct sfb_rule *b)
{
    if (b->flags & SFB_RULE_OUTERMOST)
        return a->flags == b->flags;
    return a->cfa_base == b->cfa_base && a->flags == b->flags && a->cfa_offset == b->cfa_offset &&
           a->cfa_add == b->cfa_add && a->cfa_reg == b->cfa_reg && a->ra.where == b->ra.where &&
           a->fp.where == b->fp.where && a->sp.where == b->sp.where &&
           a->ra.offset == b->ra.offset && a->fp.offset == b->fp.offset &&
           a->sp.offset == b->sp.offset && a->ra.reg == b->ra.reg && a->fp.reg == b->fp.reg &&
           a->sp.reg == b->sp.reg;
}

Test(eh_frame_find, says_what_each_row_says)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, cases[i].program);
        struct sfb_error error = { SFB_OK, NULL, 0 };
        struct sfb_rule got = { .cfa_offset = 1234 };
        const enum sfb_status status = sfb_eh_frame_find(&e.eh, ENTRY_START, &got, &error);

        cr_expect(eq(int, status, cases[i].want), "%s", cases[i].name);
        if (status == SFB_OK) {
            cr_expect(same(&got, &cases[i].rule), "%s", cases[i].name);
            cr_expect(got.zero == 0 && got.zeros[0] == 0 && got.zeros[1] == 0, "%s", cases[i].name);
        } else {
            cr_expect(eq(i32, got.cfa_offset, 1234), "%s: written", cases[i].name);
            cr_expect(error.status == status && error.field && error.offset == e.fde.offset, "%s",
                      cases[i].name);
        }
    }
}

/* The PLT, by the pc that is asked for, in one row. */
Test(eh_frame_find, knows_the_linkage_stub_at_every_pc)
{
    static const struct item program[] = {
        B(0x0f), U(11),   B(0x77), S(8),    B(0x80), S(0),    B(0x3f),
        B(0x1a), B(0x3b), B(0x2a), B(0x33), B(0x24), B(0x22), { ITEMS_END, 0 },
    };
    const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, program);

    for (uint64_t at = 0; at < 64; at++) {
        struct sfb_rule got;

        cr_assert(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START + at, &got, NULL), SFB_OK));
        cr_expect(eq(i32, got.cfa_offset, at % 16 >= 11 ? 16 : 8), "%d", (int)at);
        cr_expect(eq(int, got.cfa_base, SFB_BASE_SP));
        cr_expect(eq(int, got.flags, 0));
    }
}

static const struct {
    const char *name;
    const struct item *program;
    struct sfb_rule rule;
} cases_of_aarch64[] = {
    { "nothing", NULL, { 0 } },
    { "signed", ITEMS(B(0x2d)), { .flags = SIGNED } },
    { "a frame record",
      ITEMS(B(0x2d), B(0x0e), U(32), B(0x9d), U(4), B(0x9e), U(3), B(0x0d), U(X29)),
      { .cfa_base = SFB_BASE_FP,
        .cfa_offset = 32,
        .ra.where = SFB_WHERE_CFA,
        .ra.offset = -24,
        .fp.where = SFB_WHERE_CFA,
        .fp.offset = -32,
        .flags = SIGNED } },
    { "CFA in x19",
      ITEMS(B(0x0c), U(19), U(16)),
      { .cfa_base = SFB_BASE_REG, .cfa_reg = 19, .cfa_offset = 16, .flags = GENERAL } },
    { "RA in x15",
      ITEMS(B(0x09), U(X30), U(X15)),
      { .ra.where = SFB_WHERE_IS_REG, .ra.reg = X15, .flags = GENERAL } },
    { "RA undefined", ITEMS(B(0x07), U(X30), B(0x2d)), { .flags = OUTERMOST } },
    { "sp in x10",
      ITEMS(B(0x09), U(X31), U(10)),
      { .sp.where = SFB_WHERE_IS_REG, .sp.reg = 10, .flags = GENERAL } },
    { "RA at bregx sp 8",
      ITEMS(B(0x10), U(X30), U(3), B(0x92), U(X31), S(8)),
      { .ra.where = SFB_WHERE_AT_REG, .ra.reg = X31, .ra.offset = 8, .flags = GENERAL } },
};

Test(eh_frame_find, says_what_each_row_says_on_aarch64)
{
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < COUNT(cases_of_aarch64); i++) {
            const struct entry e = entry_with(eh_abis[k], NULL, cases_of_aarch64[i].program);
            struct sfb_rule got;

            cr_assert(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START, &got, NULL), SFB_OK), "%s",
                      cases_of_aarch64[i].name);
            cr_expect(same(&got, &cases_of_aarch64[i].rule), "%s", cases_of_aarch64[i].name);
        }
}

/* What the CIE says of the whole function. */
Test(eh_frame_find, says_what_the_augmentation_says)
{
    static const struct {
        const char *letters;
        uint8_t flags;
    } letters[] = {
        { "zR", 0 },
        { "zRS", SFB_RULE_SIGNAL },
        { "zRB", SFB_RULE_RA_KEY_B },
        { "zRSB", SFB_RULE_SIGNAL | SFB_RULE_RA_KEY_B },
    };

    for (size_t k = 0; k < COUNT(letters); k++) {
        static const struct item undefined[] = { B(0x07), U(X30), { ITEMS_END, 0 } };
        struct eh_function f = { 0x1000, 0x100, NULL };
        const struct eh_layout l = { .abi = SFB_ABI_AARCH64_LE,
                                     .address = ENTRY_ADDRESS,
                                     .augmentation = letters[k].letters,
                                     .count = 1,
                                     .functions = &f };
        struct entry e = entry_of(&l);
        struct sfb_rule got;

        cr_assert(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START, &got, NULL), SFB_OK));
        cr_expect(eq(int, got.flags, letters[k].flags), "%s", letters[k].letters);

        f.program = undefined;
        e = entry_of(&l);
        cr_assert(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START, &got, NULL), SFB_OK));
        cr_expect(eq(int, got.flags, OUTERMOST | (letters[k].flags & SFB_RULE_SIGNAL)), "%s",
                  letters[k].letters);
    }
}

/* A return address column that is not the machine's, never mentioned: it is in that register. */
Test(eh_frame_find, takes_the_return_address_from_its_column)
{
    static const struct item stored[] = { B(0x80 | X15), U(1), { ITEMS_END, 0 } };
    struct eh_function f = { 0x1000, 0x100, NULL };
    const struct eh_layout l = { .abi = SFB_ABI_AARCH64_BE,
                                 .address = ENTRY_ADDRESS,
                                 .ra_column = X15,
                                 .count = 1,
                                 .functions = &f };
    struct entry e = entry_of(&l);
    struct sfb_rule got;

    cr_assert(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START, &got, NULL), SFB_OK));
    cr_expect(same(
        &got, &(struct sfb_rule){ .ra.where = SFB_WHERE_IS_REG, .ra.reg = X15, .flags = GENERAL }));
    f.program = stored;
    e = entry_of(&l);
    cr_assert(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START, &got, NULL), SFB_OK));
    cr_expect(same(&got, &(struct sfb_rule){ .ra.where = SFB_WHERE_CFA, .ra.offset = -8 }));
}

/* Which row answers, and what is said where none does. */
Test(eh_frame_find, finds_the_row)
{
    static const struct item program[] = { B(0x44), B(0x0e), U(16),   B(0x44),
                                           B(0x0e), U(24),   B(0x3f), { ITEMS_END, 0 } };
    struct eh_function f = { 0x1000, 0x10, program };
    const struct eh_layout l = {
        .abi = SFB_ABI_AMD64_LE, .address = ENTRY_ADDRESS, .count = 1, .functions = &f
    };
    const struct entry e = entry_of(&l);
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_rule got;

    cr_expect(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START - 1, &got, NULL), SFB_NO_CFI));
    for (uint64_t at = 0; at < 8; at++) {
        cr_assert(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START + at, &got, NULL), SFB_OK));
        cr_expect(eq(i32, got.cfa_offset, at < 4 ? 8 : 16));
    }
    /* The last row has an instruction that is none. */
    for (uint64_t at = 8; at < 16; at++) {
        cr_expect(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START + at, &got, &error), SFB_BAD_CFI));
        cr_expect(error.status == SFB_BAD_CFI && error.field && error.offset == e.fde.offset);
    }
    cr_expect(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START + 16, &got, NULL), SFB_NO_CFI));
}

/* An entry whose start is that of the table, but of no code, answers for nothing. */
Test(eh_frame_find, finds_nothing_in_an_entry_of_size_zero)
{
    struct eh_function f = { 0x1000, 0, NULL };
    const struct eh_layout l = {
        .abi = SFB_ABI_AMD64_LE, .address = ENTRY_ADDRESS, .count = 1, .functions = &f
    };
    const struct entry e = entry_of(&l);
    struct sfb_rule got;

    cr_expect(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START, &got, NULL), SFB_NO_CFI));
}

/* What libunwind is asked for depends on it: source_libunwind.c. */
static const struct {
    const char *name;
    const struct item *program;
    enum sfb_cfi_how want;
} kinds_of_sp[] = {
    { "nothing", NULL, SFB_CFI_UNSET },
    { "at CFA-16", ITEMS(B(0x87), U(2)), SFB_CFI_OFFSET },
    { "is CFA-16", ITEMS(B(0x14), U(RSP), U(2)), SFB_CFI_VAL_OFFSET },
    { "in r9", ITEMS(B(0x09), U(RSP), U(R9)), SFB_CFI_REGISTER },
    { "at r9", ITEMS(B(0x10), U(RSP), U(2), B(0x79), S(0)), SFB_CFI_EXPRESSION },
    { "is r9", ITEMS(B(0x16), U(RSP), U(2), B(0x79), S(0)), SFB_CFI_VAL_EXPRESSION },
    { "too far", ITEMS(B(0x87), U(1ull << 40)), SFB_CFI_TOO_FAR },
    { "of no row", ITEMS(B(0x3f)), SFB_CFI_TOO_FAR },
};

Test(eh_frame_how, says_how_each_row_finds_sp)
{
    for (size_t i = 0; i < COUNT(kinds_of_sp); i++) {
        const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, kinds_of_sp[i].program);

        cr_expect(eq(int, (int)sfb_cfi_how_at(&e.eh, ENTRY_START, SFB_CFI_SP), kinds_of_sp[i].want),
                  "%s", kinds_of_sp[i].name);
        cr_expect(
            eq(int, (int)sfb_cfi_how_at(&e.eh, ENTRY_START - 1, SFB_CFI_SP), SFB_CFI_TOO_FAR));
    }
}

/* Before any instruction the CFA is no register, and not register 0. */
Test(eh_frame_find, has_no_rule_where_nothing_says_what_the_cfa_is)
{
    const struct item *const nothing = ITEMS(B(0x00));
    const struct {
        const char *name;
        const struct item *program;
        enum sfb_status want;
    } programs[] = {
        { "no instruction", nothing, SFB_NOT_EXPRESSIBLE },
        { "an offset alone", ITEMS(B(0x0e), U(16)), SFB_NOT_EXPRESSIBLE },
        { "register 300", ITEMS(B(0x0c), U(300), U(16)), SFB_NOT_EXPRESSIBLE },
        { "register 0", ITEMS(B(0x0c), U(0), U(16)), SFB_OK },
    };

    for (size_t a = 0; a < sizeof eh_abis / sizeof *eh_abis; a++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            const struct entry e = entry_with(eh_abis[a], nothing, programs[i].program);
            struct sfb_rule got = { .cfa_offset = 1234 };

            cr_expect(eq(int, sfb_eh_frame_find(&e.eh, ENTRY_START, &got, NULL), programs[i].want),
                      "%s", programs[i].name);
            cr_expect(eq(i32, got.cfa_offset, programs[i].want == SFB_OK ? 16 : 1234), "%s",
                      programs[i].name);
        }
}
