/* Entries of .eh_frame: lengths, CIE pointers, augmentations, addresses. */
#include <stdio.h>
#include <string.h>

#include "support/eh_frame_bytes.h"
#include "support/guarded.h"
#include "support/test.h"

#define ADDRESS      0x555555554000u
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SIZE_MAX_HERE = 4096, START = -0x3000, SIZE = 0x10 };

static const struct eh_function functions[] = { { START, SIZE, ITEMS(B(0x41), B(0x0e), U(16)) } };

static struct eh_layout layout_of(enum sfb_abi abi)
{
    return (struct eh_layout){
        .abi = abi, .address = ADDRESS, .gap = 1, .count = 1, .functions = functions
    };
}

/* Reads the one entry of a segment that ends where it ends. */
static enum sfb_status read_entry(const struct eh_bytes *b, struct sfb_cfi_fde *out)
{
    static struct guarded g;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_eh_frame eh;
    enum sfb_status status;

    if (!g.map)
        g = guarded_new(SIZE_MAX_HERE);
    cr_assert(eq(int, eh_bytes_open(&eh, b, guarded_copy(&g, b->at, b->n), b->n), SFB_OK));
    status = sfb_eh_frame_fde(&eh, 0, out, &error);
    cr_expect(eq(int, error.status, status));
    if (status != SFB_OK)
        cr_expect(error.field != NULL && error.offset <= b->n);
    return status;
}

static enum sfb_status read_layout(const struct eh_layout *l, struct sfb_cfi_fde *out)
{
    struct eh_bytes b = eh_frame_bytes(l);

    return read_entry(&b, out);
}

Test(cfi_fde_read, reads_all_fields)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (int is_long = 0; is_long < 2; is_long++) {
            const bool amd64 = eh_abis[i] == SFB_ABI_AMD64_LE;
            const uint32_t length = is_long ? 12 : 4;
            struct eh_layout l = layout_of(eh_abis[i]);
            struct sfb_cfi_fde fde;
            struct eh_bytes b;

            l.long_lengths = is_long;
            b = eh_frame_bytes(&l);
            cr_assert(eq(int, read_entry(&b, &fde), SFB_OK));
            cr_expect(eq(u64, fde.start, ADDRESS + b.hdr + (uint64_t)START));
            cr_expect(eq(u64, fde.end, fde.start + SIZE));
            cr_expect(eq(u32, fde.offset, (uint32_t)b.fde[0]));
            cr_expect(eq(u32, fde.cie_offset, (uint32_t)b.cie));
            /* id, version, "zR", 3 alignments and column, size and encoding */
            cr_expect(eq(u32, fde.initial, (uint32_t)b.cie + length + 4 + 1 + 3 + 3 + 2));
            cr_expect(eq(u32, fde.initial_end, (uint32_t)b.cie_end));
            /* CIE pointer, start, size, size of nothing */
            cr_expect(eq(u32, fde.program, (uint32_t)b.fde[0] + length + 4 + 4 + 4 + 1));
            cr_expect(eq(u32, fde.program_end, (uint32_t)b.n));
            cr_expect(eq(u32, fde.code_align, amd64 ? 1 : 4));
            cr_expect(eq(i32, fde.data_align, -8));
            cr_expect(eq(int, fde.ra_column, amd64 ? 16 : 30));
            cr_expect(eq(int, fde.encoding, 0x1b));
            cr_expect(eq(int, fde.signal || fde.key_b, false));
        }
}

Test(cfi_fde_read, reads_addresses_in_every_encoding)
{
    /* uleb128, sleb128 and 2 bytes cannot say how far it is from data, but from the entry. */
    static const struct {
        uint16_t encoding;
        int64_t start;
    } cases[] = {
        { ABSPTR, START }, { 0x01, START }, { 0x04, START },  { 0x09, START },  { 0x0c, START },
        { 0x10, START },   { 0x14, START }, { 0x19, START },  { 0x1a, START },  { 0x1b, START },
        { 0x1c, START },   { 0x11, START }, { 0x12, 0x4000 }, { 0x13, 0x4000 }, { 0x3b, START },
        { 0x33, 0x4000 },  { 0x50, START },
    };

    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (size_t k = 0; k < COUNT(cases); k++) {
            struct eh_function f = { cases[k].start, SIZE, NULL };
            struct eh_layout l = layout_of(eh_abis[i]);
            struct sfb_cfi_fde fde;
            struct eh_bytes b;

            l.encoding = cases[k].encoding;
            l.functions = &f;
            l.gap = 4; /* so that "aligned" needs no padding */
            b = eh_frame_bytes(&l);
            if (cases[k].encoding == 0x50 && (b.fde[0] + 8) % 8 != 0)
                continue;
            cr_assert(eq(int, read_entry(&b, &fde), SFB_OK), "%#x", cases[k].encoding);
            cr_expect(eq(u64, fde.start, ADDRESS + b.hdr + (uint64_t)cases[k].start), "%#x",
                      cases[k].encoding);
            cr_expect(eq(u64, fde.end, fde.start + SIZE), "%#x", cases[k].encoding);
        }
}

Test(cfi_fde_read, refuses_other_encodings_of_addresses)
{
    static const uint8_t cases[] = { 0x05, 0x08, 0x0d, 0x0f, 0x2b, 0x4b, 0x6b, 0x80, 0x9b, 0xff };

    for (size_t k = 0; k < COUNT(cases); k++) {
        struct eh_layout l = layout_of(SFB_ABI_AMD64_LE);
        struct sfb_cfi_fde fde;

        l.data = (const struct item[]){ B(cases[k]), { ITEMS_END, 0 } };
        cr_expect(eq(int, read_layout(&l, &fde), SFB_BAD_CFI), "%#x", cases[k]);
    }
}

/* Letters and their data; what is known afterwards. */
static const struct {
    const char *letters;
    const struct item *data;
    uint16_t encoding; /* of addresses in the FDE */
    bool signal, key_b;
    enum sfb_status want;
} augmentations[] = {
    { "", NULL, ABSPTR, false, false, SFB_OK },
    { "z", ITEMS(ZEROS(0)), ABSPTR, false, false, SFB_OK },
    { "zR", ITEMS(B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zRS", ITEMS(B(0x1b)), 0x1b, true, false, SFB_OK },
    { "zSR", ITEMS(B(0x1b)), 0x1b, true, false, SFB_OK },
    { "zS", ITEMS(ZEROS(0)), ABSPTR, true, false, SFB_OK },
    { "zRB", ITEMS(B(0x1b)), 0x1b, false, true, SFB_OK },
    { "zRG", ITEMS(B(0x1b)), 0x1b, false, false, SFB_OK },
    { "zRSBG", ITEMS(B(0x1b)), 0x1b, true, true, SFB_OK },
    { "zLR", ITEMS(B(0x1b), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPLR", ITEMS(B(0x9b), W(99), B(0x1b), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x00), Q(99), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x01), U(300), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x02), H(99), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x03), W(99), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x04), Q(99), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x09), S(-300), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x9a), H(99), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0xbb), W(99), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x4c), Q(99), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0xff), B(0x1c)), 0x1c, false, false, SFB_OK },
    { "zPR", ITEMS(B(0x05), W(99), B(0x1c)), 0x1c, false, false, SFB_BAD_CFI },
    { "zRP", ITEMS(B(0x1b), B(0x9b), H(99)), 0x1b, false, false, SFB_BAD_CFI },
    { "zPR", ITEMS(B(0x9b), W(99)), 0x1b, false, false, SFB_BAD_CFI },
    { "zR", ITEMS(ZEROS(0)), 0x1b, false, false, SFB_BAD_CFI },
    { "zLR", ITEMS(B(0x1b)), 0x1b, false, false, SFB_BAD_CFI },
    /* More data than the letters say, and letters that nobody knows, behind those that one does. */
    { "zR", ITEMS(B(0x1c), ZEROS(5)), 0x1c, false, false, SFB_OK },
    { "zRX", ITEMS(B(0x1c), ZEROS(3)), 0x1c, false, false, SFB_OK },
    { "zRXS", ITEMS(B(0x1c), ZEROS(3)), 0x1c, false, false, SFB_OK },
    { "zXR", ITEMS(ZEROS(3), B(0x1c)), ABSPTR, false, false, SFB_OK },
    /* Without z nothing says where they end. */
    { "eh", ITEMS(Q(0)), ABSPTR, false, false, SFB_BAD_CFI },
    { "R", ITEMS(B(0x1b)), 0x1b, false, false, SFB_BAD_CFI },
    { "armcc+", ITEMS(ZEROS(0)), ABSPTR, false, false, SFB_BAD_CFI },
};

Test(cfi_fde_read, understands_augmentations)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (size_t k = 0; k < COUNT(augmentations); k++) {
            const char *letters = augmentations[k].letters;
            struct eh_layout l = layout_of(eh_abis[i]);
            struct sfb_cfi_fde fde = { .offset = 1 };
            struct eh_bytes b;

            l.augmentation = letters;
            l.data = augmentations[k].data;
            l.encoding = augmentations[k].encoding;
            b = eh_frame_bytes(&l);
            cr_expect(eq(int, read_entry(&b, &fde), augmentations[k].want), "%zu: %s", k, letters);
            if (augmentations[k].want != SFB_OK) {
                cr_expect(eq(u32, fde.offset, 1), "%zu: %s: written", k, letters);
                continue;
            }
            cr_expect(eq(u64, fde.start, ADDRESS + b.hdr + (uint64_t)START), "%zu: %s", k, letters);
            cr_expect(eq(int, fde.signal, augmentations[k].signal), "%zu: %s", k, letters);
            cr_expect(eq(int, fde.key_b, augmentations[k].key_b), "%zu: %s", k, letters);
            /* The instructions are where they are, whatever was known of what is before them. */
            cr_expect(eq(int, b.at[fde.initial], 0x0c), "%zu: %s", k, letters);
            cr_expect(eq(int, b.at[fde.program], 0x41), "%zu: %s", k, letters);
        }
}

/* The personality routine's address as it is, at the next multiple of 8 in memory. */
Test(cfi_fde_read, passes_over_an_aligned_personality)
{
    for (uint8_t gap = 0; gap < 8; gap++) {
        struct eh_layout l = layout_of(SFB_ABI_AMD64_LE);
        struct sfb_cfi_fde fde;
        struct eh_bytes b;
        /* hdr, table, length, id, version, "zPR", 4 fields, P */
        const unsigned at = gap + 12u + 8 + 4 + 4 + 1 + 4 + 3 + 1 + 1;

        l.gap = gap;
        l.augmentation = "zPR";
        l.data = (const struct item[]){
            B(0x50), ZEROS((8 - at % 8) % 8), Q(99), B(0x1c), { ITEMS_END, 0 }
        };
        l.encoding = 0x1c;
        b = eh_frame_bytes(&l);
        cr_expect(eq(int, read_entry(&b, &fde), SFB_OK), "%d", gap);
        cr_expect(eq(int, fde.encoding, 0x1c), "%d", gap);
        cr_expect(eq(int, b.at[fde.initial], 0x0c), "%d", gap);
    }
}

Test(cfi_fde_read, passes_over_augmentation_data_of_the_entry)
{
    struct eh_layout l = layout_of(SFB_ABI_AMD64_LE);
    struct sfb_cfi_fde fde;
    struct eh_bytes b;

    l.augmentation = "zLR";
    l.data = (const struct item[]){ B(0x1b), B(0x1b), { ITEMS_END, 0 } };
    l.fde_data = (const struct item[]){ W(99), ZEROS(130), { ITEMS_END, 0 } };
    b = eh_frame_bytes(&l);
    cr_assert(eq(int, read_entry(&b, &fde), SFB_OK));
    cr_expect(eq(int, b.at[fde.program], 0x41));
    eh_bytes_set(&b, fde.program - 134 - 2, 1, 0xff); /* its size, which has two bytes */
    cr_expect(eq(int, read_entry(&b, &fde), SFB_TRUNCATED));
}

Test(cfi_fde_read, takes_versions_1_and_3)
{
    for (unsigned version = 0; version < 6; version++) {
        struct eh_layout l = layout_of(SFB_ABI_AMD64_LE);
        struct eh_bytes b = eh_frame_bytes(&l);
        struct sfb_cfi_fde fde;

        eh_bytes_set(&b, b.cie + 8, 1, version);
        cr_expect(
            eq(int, read_entry(&b, &fde), version == 1 || version == 3 ? SFB_OK : SFB_BAD_CFI),
            "%u", version);
    }
}

/* A CIE, then a header with one entry, whose FDE is behind it. */
static struct eh_bytes segment_with_cie(const struct item *cie, enum sfb_abi abi)
{
    struct eh_bytes b = { .abi = abi, .address = ADDRESS };
    struct item rest[] = {
        B(1),  B(0x1b), B(3), B(0x3b),   W(99),   W(1), W(-16),
        W(20), W(24),   W(0), Q(0x1000), Q(0x10), W(0), { ITEMS_END, 0 },
    };

    b.n = b.hdr = eh_items_put(b.at, sizeof b.at, cie, abi);
    eh_bytes_set(&b, 0, 4, b.n - 4);
    rest[9].value = b.hdr + 24; /* back to the CIE */
    b.n += eh_items_put(b.at + b.hdr, sizeof b.at - b.hdr, rest, abi);
    return b;
}

/* Version 3 has the column as ULEB128, version 1 as a byte. */
Test(cfi_fde_read, judges_alignments_and_column)
{
    static const struct {
        uint8_t version;
        struct item code, data, column;
        enum sfb_status want;
    } cases[] = {
        { 1, U(INT32_MAX), S(INT32_MAX), B(127), SFB_OK },
        { 1, U(0), S(INT32_MIN), B(0), SFB_OK },
        { 1, U((uint64_t)INT32_MAX + 1), S(-8), B(16), SFB_BAD_CFI },
        { 1, U(1), S((int64_t)INT32_MAX + 1), B(16), SFB_BAD_CFI },
        { 1, U(1), S((int64_t)INT32_MIN - 1), B(16), SFB_BAD_CFI },
        { 1, U(1), S(-8), B(128), SFB_BAD_CFI },
        { 3, U(1), S(-8), U(127), SFB_OK },
        { 3, U(1), S(-8), U(128), SFB_BAD_CFI },
        { 3, U(1), S(-8), U(UINT64_MAX), SFB_BAD_CFI },
        { 3, U(UINT64_MAX), S(INT64_MIN), U(16), SFB_BAD_CFI },
    };

    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (size_t k = 0; k < COUNT(cases); k++) {
            const struct item cie[] = {
                W(0),
                W(0),
                B(cases[k].version),
                B(0),
                cases[k].code,
                cases[k].data,
                cases[k].column,
                B(0x41),
                { ITEMS_END, 0 },
            };
            struct eh_bytes b = segment_with_cie(cie, eh_abis[i]);
            struct sfb_cfi_fde fde;

            cr_expect(eq(int, read_entry(&b, &fde), cases[k].want), "%zu", k);
            if (cases[k].want != SFB_OK)
                continue;
            cr_expect(eq(u32, fde.code_align, (uint32_t)cases[k].code.value), "%zu", k);
            cr_expect(eq(i32, fde.data_align, (int32_t)cases[k].data.value), "%zu", k);
            cr_expect(eq(int, fde.ra_column, (int)cases[k].column.value), "%zu", k);
            cr_expect(eq(int, b.at[fde.initial], 0x41), "%zu", k);
        }
}

Test(cfi_fde_read, refuses_pointers_to_no_cie)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        const struct eh_bytes good = eh_frame_bytes(&l);
        const size_t at = good.fde[0] + 4;
        const uint64_t wrong[] = {
            0,                 /* it is a CIE itself */
            4,                 /* the entry itself, whose id is not 0 */
            at - good.cie - 4, /* a length of 0 */
            at - good.cie - 1,
            at - good.cie + 1,
            at,     /* the byte before the header, and the header */
            at + 1, /* before the segment */
            UINT32_MAX,
        };

        for (size_t k = 0; k < COUNT(wrong); k++) {
            struct eh_bytes b = good;
            struct sfb_cfi_fde fde;

            eh_bytes_set(&b, at, 4, wrong[k]);
            cr_expect(ne(int, read_entry(&b, &fde), SFB_OK), "%zu", k);
        }
    }
}

/* The length of the FDE, which is the last thing in the segment, and of the CIE before it. */
Test(cfi_fde_read, judges_lengths)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        const struct eh_bytes good = eh_frame_bytes(&l);
        const uint64_t whole = good.n - good.fde[0] - 4;
        const uint64_t to_end = good.n - good.cie - 4;
        struct sfb_cfi_fde fde;

        for (uint64_t length = 0; length < 2 * whole; length++) {
            struct eh_bytes b = good;

            eh_bytes_set(&b, b.fde[0], 4, length);
            /* CIE pointer, start, size, augmentation size: 13 bytes, then instructions */
            cr_expect(eq(int, read_entry(&b, &fde) == SFB_OK, length >= 13 && length <= whole),
                      "%llu", (unsigned long long)length);
        }
        for (uint64_t length = 0; length < 2 * to_end; length++) {
            struct eh_bytes b = good;

            eh_bytes_set(&b, b.cie, 4, length);
            /* id, version, "zR", 3 fields, size, encoding: 13 bytes, too */
            cr_expect(eq(int, read_entry(&b, &fde) == SFB_OK, length >= 13 && length <= to_end),
                      "%llu", (unsigned long long)length);
        }
        for (unsigned k = 0; k < 32; k++) {
            struct eh_bytes b = good;

            eh_bytes_set(&b, b.fde[0], 4, UINT32_MAX - k);
            cr_expect(ne(int, read_entry(&b, &fde), SFB_OK), "%u", k);
        }
    }
}

Test(cfi_fde_read, judges_lengths_of_64_bits)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        struct eh_bytes good;
        struct sfb_cfi_fde fde;
        uint64_t whole;

        l.long_lengths = true;
        good = eh_frame_bytes(&l);
        whole = good.n - good.fde[0] - 12;
        const uint64_t lengths[] = { whole + 1,         UINT32_MAX, (uint64_t)1 << 32 | whole,
                                     (uint64_t)1 << 63, UINT64_MAX, UINT64_MAX - 11 };
        cr_expect(eq(int, read_entry(&good, &fde), SFB_OK));
        for (size_t k = 0; k < COUNT(lengths); k++) {
            struct eh_bytes b = good;

            eh_bytes_set(&b, b.fde[0] + 4, 8, lengths[k]);
            cr_expect(eq(int, read_entry(&b, &fde), SFB_TRUNCATED), "%zu", k);
            b = good;
            eh_bytes_set(&b, b.cie + 4, 8, k == 0 ? good.n : lengths[k]);
            cr_expect(ne(int, read_entry(&b, &fde), SFB_OK), "%zu", k);
        }
        good.n = good.fde[0] + 8; /* in the middle of the length */
        cr_expect(eq(int, read_entry(&good, &fde), SFB_TRUNCATED));
    }
}

/* The segment ends at every byte of the entry, and of a CIE behind its FDE. */
Test(cfi_fde_read, refuses_every_proper_prefix)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        struct eh_bytes b = eh_frame_bytes(&l);
        const size_t n = b.n;
        struct sfb_cfi_fde fde;

        for (b.n = b.fde[0]; b.n < n; b.n++)
            cr_expect(ne(int, read_entry(&b, &fde), SFB_OK), "%zu", b.n);
        cr_expect(eq(int, read_entry(&b, &fde), SFB_OK));
    }
}

/* Letters that do not end, alignments that do not end. */
Test(cfi_fde_read, refuses_a_cie_that_is_cut)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        const struct eh_bytes good = eh_frame_bytes(&l);
        struct sfb_cfi_fde fde;

        for (size_t at = good.cie + 9; at < good.cie + 16; at++) {
            struct eh_bytes b = good;

            memset(b.at + at, 0xff, b.cie_end - at);
            cr_expect(ne(int, read_entry(&b, &fde), SFB_OK), "%zu", at - good.cie);
            eh_bytes_set(&b, b.cie, 4, at - b.cie - 4); /* and nothing but these */
            cr_expect(ne(int, read_entry(&b, &fde), SFB_OK), "%zu", at - good.cie);
        }
    }
}

Test(cfi_fde_read, judges_the_range_of_code)
{
    static const struct {
        uint64_t start, size;
        enum sfb_status want;
    } cases[] = {
        { 0x1000, 0, SFB_OK },
        { 0, UINT64_MAX, SFB_OK },
        { UINT64_MAX, 0, SFB_OK },
        { UINT64_MAX, 1, SFB_BAD_CFI },
        { 0x1000, UINT64_MAX - 0xfff, SFB_BAD_CFI },
        { (uint64_t)1 << 63, (uint64_t)1 << 63, SFB_BAD_CFI },
        { (uint64_t)1 << 63, ((uint64_t)1 << 63) - 1, SFB_OK },
    };

    for (size_t k = 0; k < COUNT(cases); k++) {
        struct eh_function f = { (int64_t)(cases[k].start - ADDRESS - 1), cases[k].size, NULL };
        struct eh_layout l = layout_of(SFB_ABI_AARCH64_BE);
        struct sfb_cfi_fde fde;

        l.encoding = ABSPTR;
        l.functions = &f;
        cr_expect(eq(int, read_layout(&l, &fde), cases[k].want), "%zu", k);
        if (cases[k].want == SFB_OK)
            cr_expect(fde.start == cases[k].start && fde.end - fde.start == cases[k].size, "%zu",
                      k);
    }
    {
        /* Four bytes with a sign: a size below zero. */
        struct eh_function f = { 0, 0xffffff00, NULL };
        struct eh_layout l = layout_of(SFB_ABI_AMD64_LE);
        struct sfb_cfi_fde fde;

        l.functions = &f;
        cr_expect(eq(int, read_layout(&l, &fde), SFB_BAD_CFI));
    }
}
