/* Expressions of CFI: what comes down to a term, and what does not. */
#include "eh_frame/expression.h"

#include "support/eh_frame_bytes.h"
#include "support/guarded.h"
#include "support/test.h"

#define PC           UINT64_C(0x555555554abc)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SIZE_MAX_HERE = 4096 };

/* An expression, its length in front, at the end of readable memory; the length may lie. */
static enum sfb_status term_of(struct sfb_term *out, const struct item *items, enum sfb_abi abi,
                               uint64_t pc, bool with_cfa, int64_t lie)
{
    static struct guarded g;
    const bool big = abi == SFB_ABI_AARCH64_BE;
    uint8_t bytes[1024], whole[1040];
    const size_t size = items ? eh_items_put(bytes, sizeof bytes, items, abi) : 0;
    const struct item length[] = { U((uint64_t)((int64_t)size + lie)), { ITEMS_END, 0 } };
    struct sfb_eh_frame eh = { .abi = (uint8_t)abi,
                               .swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) };
    size_t n = eh_items_put(whole, sizeof whole, length, abi);

    if (!g.map)
        g = guarded_new(SIZE_MAX_HERE);
    memcpy(whole + n, bytes, size);
    n += size;
    eh.data = guarded_copy(&g, whole, n);
    eh.size = (uint32_t)n;
    return sfb_expression_term(out, &eh, 0, pc, with_cfa);
}

#define NUMBER(value)                                                                              \
    {                                                                                              \
        .base = SFB_TERM_NUMBER, .inner = (int64_t)(value)                                         \
    }
#define REG(number, offset)                                                                        \
    {                                                                                              \
        .base = SFB_TERM_REG, .reg = (number), .inner = (offset)                                   \
    }
#define LOAD(number, offset, more)                                                                 \
    {                                                                                              \
        .base = SFB_TERM_REG, .reg = (number), .inner = (offset), .deref = true, .outer = (more)   \
    }

/* On x86-64, where pc is register 16. */
static const struct {
    const char *name;
    const struct item *items;
    struct sfb_term want;
} terms[] = {
    { "lit0", ITEMS(B(0x30)), NUMBER(0) },
    { "lit31", ITEMS(B(0x4f)), NUMBER(31) },
    { "addr", ITEMS(B(0x03), Q(0x123456789abcdef0)), NUMBER(0x123456789abcdef0) },
    { "const1u", ITEMS(B(0x08), B(0xfe)), NUMBER(0xfe) },
    { "const1s", ITEMS(B(0x09), B(0xfe)), NUMBER(-2) },
    { "const2u", ITEMS(B(0x0a), H(0xfedc)), NUMBER(0xfedc) },
    { "const2s", ITEMS(B(0x0b), H(-300)), NUMBER(-300) },
    { "const4u", ITEMS(B(0x0c), W(0xfedcba98)), NUMBER(0xfedcba98) },
    { "const4s", ITEMS(B(0x0d), W(-70000)), NUMBER(-70000) },
    { "const8u", ITEMS(B(0x0e), Q(UINT64_MAX)), NUMBER(-1) },
    { "const8s", ITEMS(B(0x0f), Q(-5)), NUMBER(-5) },
    { "constu", ITEMS(B(0x10), U(300)), NUMBER(300) },
    { "consts", ITEMS(B(0x11), S(-300)), NUMBER(-300) },
    { "breg0", ITEMS(B(0x70), S(-8)), REG(0, -8) },
    { "breg31", ITEMS(B(0x8f), S(300)), REG(31, 300) },
    { "bregx", ITEMS(B(0x92), U(254), S(-8)), REG(254, -8) },
    { "breg of pc", ITEMS(B(0x80), S(4)), NUMBER(PC + 4) },
    { "bregx of pc", ITEMS(B(0x92), U(16), S(-4)), NUMBER(PC - 4) },
    { "nop", ITEMS(B(0x96), B(0x31), B(0x96)), NUMBER(1) },
    /* The top of the stack counts. */
    { "two numbers", ITEMS(B(0x31), B(0x32)), NUMBER(2) },
    { "dup", ITEMS(B(0x35), B(0x12), B(0x22)), NUMBER(10) },
    { "drop", ITEMS(B(0x31), B(0x77), S(0), B(0x13)), NUMBER(1) },
    { "over", ITEMS(B(0x31), B(0x32), B(0x14)), NUMBER(1) },
    { "swap", ITEMS(B(0x35), B(0x33), B(0x16), B(0x1c)), NUMBER(-2) }, /* 3 - 5 */
    { "swap of a register", ITEMS(B(0x77), S(0), B(0x33), B(0x16), B(0x22)), REG(7, 3) },
    { "and", ITEMS(B(0x3c), B(0x3a), B(0x1a)), NUMBER(8) },
    { "or", ITEMS(B(0x3c), B(0x3a), B(0x21)), NUMBER(14) },
    { "xor", ITEMS(B(0x3c), B(0x3a), B(0x27)), NUMBER(6) },
    { "mul", ITEMS(B(0x3c), B(0x3a), B(0x1e)), NUMBER(120) },
    { "plus", ITEMS(B(0x3c), B(0x3a), B(0x22)), NUMBER(22) },
    { "minus", ITEMS(B(0x3a), B(0x3c), B(0x1c)), NUMBER(-2) },
    { "neg", ITEMS(B(0x3a), B(0x1f)), NUMBER(-10) },
    { "not", ITEMS(B(0x3a), B(0x20)), NUMBER(-11) },
    { "shl", ITEMS(B(0x33), B(0x34), B(0x24)), NUMBER(48) },
    { "shl by 63", ITEMS(B(0x33), B(0x08), B(63), B(0x24)), NUMBER(1ull << 63) },
    { "shl by 64", ITEMS(B(0x33), B(0x08), B(64), B(0x24)), NUMBER(0) },
    { "shr", ITEMS(B(0x09), B(0x80), B(0x08), B(60), B(0x25)), NUMBER(15) },
    { "shr by 64", ITEMS(B(0x09), B(0x80), B(0x08), B(64), B(0x25)), NUMBER(0) },
    { "shra", ITEMS(B(0x09), B(0x80), B(0x34), B(0x26)), NUMBER(-8) },
    { "shra by 2^63", ITEMS(B(0x09), B(0x80), B(0x11), S(INT64_MIN), B(0x26)), NUMBER(-1) },
    { "eq", ITEMS(B(0x33), B(0x33), B(0x29)), NUMBER(1) },
    { "ne", ITEMS(B(0x33), B(0x33), B(0x2e)), NUMBER(0) },
    { "ge, of -1 and 0", ITEMS(B(0x09), B(0xff), B(0x30), B(0x2a)), NUMBER(0) },
    { "gt, of 0 and -1", ITEMS(B(0x30), B(0x09), B(0xff), B(0x2b)), NUMBER(1) },
    { "le, of 3 and 3", ITEMS(B(0x33), B(0x33), B(0x2c)), NUMBER(1) },
    { "lt, of 3 and 3", ITEMS(B(0x33), B(0x33), B(0x2d)), NUMBER(0) },
    { "lt, of -1 and 0", ITEMS(B(0x09), B(0xff), B(0x30), B(0x2d)), NUMBER(1) },
    { "plus_uconst", ITEMS(B(0x77), S(-8), B(0x23), U(300)), REG(7, 292) },
    { "a register and a number", ITEMS(B(0x77), S(8), B(0x38), B(0x22)), REG(7, 16) },
    { "a number and a register", ITEMS(B(0x38), B(0x77), S(8), B(0x22)), REG(7, 16) },
    { "a register less a number", ITEMS(B(0x77), S(8), B(0x38), B(0x1c)), REG(7, 0) },
    { "DRAP", ITEMS(B(0x76), S(-8), B(0x06)), LOAD(6, -8, 0) },
    { "DRAP for rbp", ITEMS(B(0x76), S(0)), REG(6, 0) },
    { "assembly of OpenSSL", ITEMS(B(0x77), S(40), B(0x06), B(0x23), U(8)), LOAD(7, 40, 8) },
    { "a load less a number", ITEMS(B(0x77), S(40), B(0x06), B(0x38), B(0x1c)), LOAD(7, 40, -8) },
    { "a load and a number", ITEMS(B(0x38), B(0x77), S(40), B(0x06), B(0x22)), LOAD(7, 40, 8) },
    { "numbers wrap", ITEMS(B(0x77), S(INT64_MAX), B(0x23), U(1)), REG(7, INT64_MIN) },
    { "as deep as there is room", ITEMS(B(0x31), B(0x31), B(0x31), B(0x31), B(0x31), B(0x35)),
      NUMBER(5) },
};

static bool same(const struct sfb_term *a, const struct sfb_term *b)
{
    return a->base == b->base && a->deref == b->deref && a->inner == b->inner &&
           a->outer == b->outer && (a->base != SFB_TERM_REG || a->reg == b->reg);
}

Test(expression_term, computes_each_case_and_refuses_every_proper_prefix)
{
    for (size_t i = 0; i < COUNT(terms); i++) {
        uint8_t bytes[64];
        const size_t size = eh_items_put(bytes, sizeof bytes, terms[i].items, SFB_ABI_AMD64_LE);
        struct sfb_term got;

        cr_assert(eq(int, term_of(&got, terms[i].items, SFB_ABI_AMD64_LE, PC, false, 0), SFB_OK),
                  "%s", terms[i].name);
        cr_expect(same(&got, &terms[i].want), "%s: %lld, %lld", terms[i].name, (long long)got.inner,
                  (long long)got.outer);
        for (size_t n = 0; n < size; n++) /* it may be good, then it stays inside */
            term_of(&got, terms[i].items, SFB_ABI_AMD64_LE, PC, false, (int64_t)n - (int64_t)size);
        cr_expect(
            eq(int, term_of(&got, terms[i].items, SFB_ABI_AMD64_LE, PC, false, 1), SFB_BAD_CFI));
    }
}

/* The operands of several bytes, in the other order, too. */
Test(expression_term, reads_numbers_in_the_byte_order_of_the_section)
{
    for (size_t i = 1; i <= 12; i++)
        for (size_t k = 0; k < COUNT(eh_abis); k++) {
            struct sfb_term got;

            cr_assert(eq(int, term_of(&got, terms[i].items, eh_abis[k], PC, false, 0), SFB_OK));
            cr_expect(same(&got, &terms[i].want), "%s", terms[i].name);
        }
}

Test(expression_term, begins_with_the_cfa_if_told_to)
{
    struct sfb_term got;

    cr_assert(eq(int, term_of(&got, ITEMS(B(0x23), U(8)), SFB_ABI_AMD64_LE, PC, true, 0), SFB_OK));
    cr_expect(eq(int, got.base, SFB_TERM_CFA));
    cr_expect(eq(i64, got.inner, 8));
    cr_assert(eq(int, term_of(&got, NULL, SFB_ABI_AMD64_LE, PC, true, 0), SFB_OK));
    cr_expect(eq(int, got.base, SFB_TERM_CFA));
    cr_expect(eq(int, term_of(&got, NULL, SFB_ABI_AMD64_LE, PC, false, 0), SFB_BAD_CFI));
    cr_expect(eq(int, term_of(&got, ITEMS(B(0x23), U(8)), SFB_ABI_AMD64_LE, PC, false, 0),
                 SFB_NOT_EXPRESSIBLE));
}

/* rsp+8, and 8 more where the entry of 16 bytes has pushed its number: from its byte 11 on. */
Test(expression_term, knows_the_linkage_stub_at_every_pc)
{
    static const struct item stub[] = { B(0x77), S(8),    B(0x80), S(0),
                                        B(0x3f), B(0x1a), B(0x3b), B(0x2a),
                                        B(0x33), B(0x24), B(0x22), { ITEMS_END, 0 } };

    for (uint64_t pc = 0x1000; pc < 0x1040; pc++) {
        struct sfb_term got;

        cr_assert(eq(int, term_of(&got, stub, SFB_ABI_AMD64_LE, pc, false, 0), SFB_OK));
        cr_expect(eq(int, got.reg, 7));
        cr_expect(eq(i64, got.inner, pc % 16 >= 11 ? 16 : 8), "%#llx", (unsigned long long)pc);
        cr_expect(eq(int, got.deref, false));
    }
}

Test(expression_term, knows_the_pc_of_aarch64)
{
    for (size_t k = 0; k < 2; k++) {
        struct sfb_term got;

        cr_assert(
            eq(int, term_of(&got, ITEMS(B(0x92), U(32), S(4)), eh_abis[k], PC, false, 0), SFB_OK));
        cr_expect(eq(int, got.base, SFB_TERM_NUMBER));
        cr_expect(eq(i64, got.inner, (int64_t)PC + 4));
        cr_assert(eq(int, term_of(&got, ITEMS(B(0x80), S(4)), eh_abis[k], PC, false, 0), SFB_OK));
        cr_expect(eq(int, got.base, SFB_TERM_REG));
    }
}

static const struct {
    const char *name;
    const struct item *items;
} beyond[] = {
    { "two registers", ITEMS(B(0x77), S(8), B(0x79), S(0), B(0x22)) },
    { "a register times a number", ITEMS(B(0x79), S(0), B(0x38), B(0x1e)) },
    { "a number less a register", ITEMS(B(0x38), B(0x79), S(0), B(0x1c)) },
    { "gather of OpenSSL",
      ITEMS(B(0x77), S(8), B(0x79), S(0), B(0x38), B(0x1e), B(0x22), B(0x06), B(0x23), U(8)) },
    { "a load behind a load", ITEMS(B(0x76), S(8), B(0x06), B(0x06)) },
    { "a load from a number", ITEMS(B(0x38), B(0x06)) },
    { "a load from the pc", ITEMS(B(0x80), S(0), B(0x06)) },
    { "a register masked", ITEMS(B(0x77), S(0), B(0x09), B(0xf0), B(0x1a)) },
    { "a register negated", ITEMS(B(0x77), S(0), B(0x1f)) },
    { "a register inverted", ITEMS(B(0x77), S(0), B(0x20)) },
    { "a register compared", ITEMS(B(0x77), S(0), B(0x30), B(0x2a)) },
    { "register 255", ITEMS(B(0x92), U(255), S(0)) },
    { "register 2^32", ITEMS(B(0x92), U(1ull << 32), S(0)) },
    { "a load and more than 32 bits", ITEMS(B(0x77), S(0), B(0x06), B(0x23), U(1u << 31)) },
    { "abs", ITEMS(B(0x31), B(0x19)) },
    { "div", ITEMS(B(0x31), B(0x30), B(0x1b)) },
    { "mod", ITEMS(B(0x31), B(0x30), B(0x1d)) },
    { "skip, forever", ITEMS(B(0x2f), H(-3)) },
    { "bra", ITEMS(B(0x31), B(0x28), H(0)) },
    { "pick", ITEMS(B(0x31), B(0x15), B(0)) },
    { "reg7", ITEMS(B(0x57)) },
    { "call_frame_cfa", ITEMS(B(0x9c)) },
    { "an operation of nobody", ITEMS(B(0xff)) },
    { "dup of nothing", ITEMS(B(0x12)) },
    { "drop of nothing", ITEMS(B(0x13)) },
    { "plus of one", ITEMS(B(0x31), B(0x22)) },
    { "swap of one", ITEMS(B(0x31), B(0x16)) },
    { "too deep", ITEMS(B(0x31), B(0x31), B(0x31), B(0x31), B(0x31), B(0x31), B(0x31)) },
};

Test(expression_term, says_what_is_beyond_a_term)
{
    for (size_t i = 0; i < COUNT(beyond); i++) {
        struct sfb_term got;

        cr_expect(eq(int, term_of(&got, beyond[i].items, SFB_ABI_AMD64_LE, PC, false, 0),
                     SFB_NOT_EXPRESSIBLE),
                  "%s", beyond[i].name);
    }
}

Test(expression_term, refuses_nothing_left_and_lengths_that_lie)
{
    struct sfb_term got;
    static const int64_t lies[] = { 2, 100, UINT32_MAX, (int64_t)1 << 32, INT64_MAX - 1, -3 };

    cr_expect(eq(int, term_of(&got, ITEMS(B(0x31), B(0x13)), SFB_ABI_AMD64_LE, PC, false, 0),
                 SFB_BAD_CFI));
    for (size_t i = 0; i < COUNT(lies); i++)
        cr_expect(eq(int, term_of(&got, ITEMS(B(0x31)), SFB_ABI_AMD64_LE, PC, false, lies[i]),
                     SFB_BAD_CFI),
                  "%zu", i);
}

/* However long it is, it takes no longer than so many operations. */
Test(expression_term, stops_after_64_operations)
{
    struct item items[70];
    struct sfb_term got;

    for (size_t count = 60; count < 69; count++) {
        items[0] = (struct item)B(0x31);
        for (size_t i = 1; i < count; i++)
            items[i] = (struct item)B(0x96);
        items[count] = (struct item){ ITEMS_END, 0 };
        cr_expect(eq(int, term_of(&got, items, SFB_ABI_AMD64_LE, PC, false, 0),
                     count <= 64 ? SFB_OK : SFB_NOT_EXPRESSIBLE),
                  "%zu", count);
    }
}
