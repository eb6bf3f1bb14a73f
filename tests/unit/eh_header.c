/* .eh_frame_hdr: what is taken, what is refused, and which entry answers for a pc. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eh_frame/pointer.h"
#include "eh_frame/window.h"
#include "support/eh_frame_bytes.h"
#include "support/guarded.h"
#include "support/test.h"

#define ADDRESS      0x555555554000u
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SIZE_MAX_HERE = 4096 };

static const struct eh_function functions[] = {
    { -0x3000, 0x10, NULL }, { -0x2ff0, 0x20, NULL }, { -0x2000, 0x1000, NULL },
    { 0x8000, 1, NULL },     { 0x8010, 0, NULL },     { 0x8020, 8, NULL },
};

static struct eh_layout layout_of(enum sfb_abi abi)
{
    return (struct eh_layout){
        .abi = abi, .address = ADDRESS, .gap = 3, .count = COUNT(functions), .functions = functions
    };
}

Test(eh_frame_open, describes_the_table)
{
    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        struct eh_bytes b = eh_frame_bytes(&l);
        const bool big = eh_abis[i] == SFB_ABI_AARCH64_BE;
        struct sfb_eh_frame eh;
        struct sfb_cfi_fde fde;

        cr_assert(eq(int, eh_bytes_open(&eh, &b, b.at, b.n), SFB_OK));
        cr_expect(eh.data == b.at);
        cr_expect(eq(u64, eh.address, ADDRESS));
        cr_expect(eq(u32, eh.size, (uint32_t)b.n));
        cr_expect(eq(u32, eh.hdr, 3));
        cr_expect(eq(u32, eh.table, 15));
        cr_expect(eq(u32, eh.count, COUNT(functions)));
        cr_expect(eq(int, eh.abi, (int)eh_abis[i]));
        cr_expect(eq(int, eh.swap, big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)));
        for (uint32_t k = 0; k < eh.count; k++) {
            cr_assert(eq(int, sfb_eh_frame_fde(&eh, k, &fde, NULL), SFB_OK));
            cr_expect(eq(u32, fde.offset, (uint32_t)b.fde[k]));
            cr_expect(eq(u64, fde.start, ADDRESS + 3 + (uint64_t)functions[k].start));
        }
        cr_expect(eq(int, sfb_eh_frame_fde(&eh, eh.count, &fde, NULL), SFB_BAD_ARGUMENT));
        cr_expect(eq(int, sfb_eh_frame_fde(&eh, UINT32_MAX, &fde, NULL), SFB_BAD_ARGUMENT));
    }
}

Test(eh_frame_open, refuses_every_proper_prefix)
{
    struct guarded g = guarded_new(SIZE_MAX_HERE);

    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        struct eh_bytes b = eh_frame_bytes(&l);
        const size_t end = b.table + COUNT(functions) * 8;

        for (size_t n = b.hdr; n <= end; n++) {
            struct sfb_error error = { SFB_OK, NULL, 0 };
            struct sfb_eh_frame eh;
            const enum sfb_status status = sfb_eh_frame_open(
                &eh, guarded_copy(&g, b.at, n), n, ADDRESS, ADDRESS + b.hdr, eh_abis[i], &error);

            cr_expect(eq(int, status, n < end ? SFB_TRUNCATED : SFB_OK), "%zu bytes", n);
            cr_expect(eq(int, error.status, status), "%zu bytes", n);
            if (status != SFB_OK)
                cr_expect(error.field != NULL && error.offset <= n, "%zu bytes", n);
        }
    }
    guarded_free(&g);
}

Test(eh_frame_open, refuses_bad_arguments)
{
    struct eh_layout l = layout_of(SFB_ABI_AMD64_LE);
    struct eh_bytes b = eh_frame_bytes(&l);
    struct sfb_eh_frame eh;
    const uint64_t hdr = ADDRESS + b.hdr;

    cr_expect(
        eq(int, sfb_eh_frame_open(NULL, b.at, b.n, ADDRESS, hdr, b.abi, NULL), SFB_BAD_ARGUMENT));
    cr_expect(
        eq(int, sfb_eh_frame_open(&eh, NULL, b.n, ADDRESS, hdr, b.abi, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_eh_frame_open(&eh, b.at, b.n, ADDRESS, ADDRESS - 1, b.abi, NULL),
                 SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_eh_frame_open(&eh, b.at, b.n, ADDRESS, ADDRESS + b.n + 1, b.abi, NULL),
                 SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_eh_frame_open(&eh, b.at, b.n, ADDRESS, ADDRESS + b.n, b.abi, NULL),
                 SFB_TRUNCATED));
    cr_expect(eq(int, sfb_eh_frame_open(&eh, b.at, (size_t)1 << 32, ADDRESS, hdr, b.abi, NULL),
                 SFB_BAD_ARGUMENT));
}

/* A header of the test's own, with room behind it for a table of up to two entries. */
static enum sfb_status open_header(const struct item *header, enum sfb_abi abi,
                                   struct sfb_eh_frame *out, struct sfb_error *error)
{
    static struct guarded g;
    uint8_t bytes[64];
    size_t n = eh_items_put(bytes, sizeof bytes, header, abi);

    if (!g.map)
        g = guarded_new(sizeof bytes);
    return sfb_eh_frame_open(out, guarded_copy(&g, bytes, n), n, ADDRESS, ADDRESS, abi, error);
}

/* The table is where encodings end, which is 4 bytes behind the header's first if both are empty.
 */
static const struct {
    const char *name;
    const struct item *header;
    enum sfb_status want;
    uint32_t table, count;
} headers[] = {
    { "as ld writes it", ITEMS(B(1), B(0x1b), B(3), B(0x3b), W(99), W(1), ZEROS(8)), SFB_OK, 12,
      1 },
    { "no entries", ITEMS(B(1), B(0x1b), B(3), B(0x3b), W(99), W(0)), SFB_OK, 12, 0 },
    { "version 0", ITEMS(B(0), B(0x1b), B(3), B(0x3b), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "version 2", ITEMS(B(2), B(0x1b), B(3), B(0x3b), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "no table", ITEMS(B(1), B(0x1b), B(0xff), B(0xff), W(99)), SFB_BAD_CFI, 0, 0 },
    { "table of udata4", ITEMS(B(1), B(0x1b), B(3), B(0x33), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "table of sdata8", ITEMS(B(1), B(0x1b), B(3), B(0x3c), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "table of pcrel", ITEMS(B(1), B(0x1b), B(3), B(0x1b), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "ptr absptr", ITEMS(B(1), B(0x00), B(3), B(0x3b), Q(99), W(0)), SFB_OK, 16, 0 },
    { "ptr uleb128", ITEMS(B(1), B(0x01), B(3), B(0x3b), U(300), W(0)), SFB_OK, 10, 0 },
    { "ptr udata2", ITEMS(B(1), B(0x02), B(3), B(0x3b), H(99), W(0)), SFB_OK, 10, 0 },
    { "ptr udata4", ITEMS(B(1), B(0x03), B(3), B(0x3b), W(99), W(0)), SFB_OK, 12, 0 },
    { "ptr udata8", ITEMS(B(1), B(0x04), B(3), B(0x3b), Q(99), W(0)), SFB_OK, 16, 0 },
    { "ptr sleb128", ITEMS(B(1), B(0x19), B(3), B(0x3b), S(-300), W(0)), SFB_OK, 10, 0 },
    { "ptr sdata2", ITEMS(B(1), B(0x1a), B(3), B(0x3b), H(-9), W(0)), SFB_OK, 10, 0 },
    { "ptr sdata8", ITEMS(B(1), B(0x1c), B(3), B(0x3b), Q(-9), W(0)), SFB_OK, 16, 0 },
    { "ptr aligned", ITEMS(B(1), B(0x50), B(3), B(0x3b), ZEROS(4), Q(9), W(0)), SFB_OK, 20, 0 },
    { "ptr omitted", ITEMS(B(1), B(0xff), B(3), B(0x3b), W(0)), SFB_BAD_CFI, 0, 0 },
    { "ptr textrel", ITEMS(B(1), B(0x2b), B(3), B(0x3b), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "ptr funcrel", ITEMS(B(1), B(0x4b), B(3), B(0x3b), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "ptr indirect", ITEMS(B(1), B(0x9b), B(3), B(0x3b), W(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "ptr of no format", ITEMS(B(1), B(0x15), B(3), B(0x3b), Q(99), W(0)), SFB_BAD_CFI, 0, 0 },
    { "ptr cut", ITEMS(B(1), B(0x1c), B(3), B(0x3b), W(99)), SFB_TRUNCATED, 0, 0 },
    { "count uleb128", ITEMS(B(1), B(0x1b), B(1), B(0x3b), W(9), U(1), ZEROS(8)), SFB_OK, 9, 1 },
    { "count udata2", ITEMS(B(1), B(0x1b), B(2), B(0x3b), W(9), H(1), ZEROS(8)), SFB_OK, 10, 1 },
    { "count udata8", ITEMS(B(1), B(0x1b), B(4), B(0x3b), W(9), Q(1), ZEROS(8)), SFB_OK, 16, 1 },
    { "count sdata4", ITEMS(B(1), B(0x1b), B(11), B(0x3b), W(9), W(1), ZEROS(8)), SFB_OK, 12, 1 },
    { "count omitted", ITEMS(B(1), B(0x1b), B(0xff), B(0x3b), W(9), ZEROS(8)), SFB_BAD_CFI, 0, 0 },
    { "count cut", ITEMS(B(1), B(0x1b), B(3), B(0x3b), W(9), H(0)), SFB_TRUNCATED, 0, 0 },
    { "count of one more", ITEMS(B(1), B(0x1b), B(3), B(0x3b), W(9), W(2), ZEROS(15)),
      SFB_TRUNCATED, 0, 0 },
    { "count that wraps 32 bits",
      ITEMS(B(1), B(0x1b), B(3), B(0x3b), W(9), W(0x20000001), ZEROS(8)), SFB_TRUNCATED, 0, 0 },
    { "count below zero", ITEMS(B(1), B(0x1b), B(11), B(0x3b), W(9), W(-1), ZEROS(8)),
      SFB_TRUNCATED, 0, 0 },
    { "count that wraps 64 bits",
      ITEMS(B(1), B(0x1b), B(4), B(0x3b), W(9), Q(0x2000000000000001), ZEROS(8)), SFB_TRUNCATED, 0,
      0 },
};

Test(eh_frame_open, judges_each_case)
{
    for (size_t i = 0; i < COUNT(headers); i++)
        for (size_t k = 0; k < COUNT(eh_abis); k++) {
            struct sfb_eh_frame eh = { .size = 1 };
            struct sfb_error error = { SFB_OK, NULL, 0 };

            cr_expect(
                eq(int, open_header(headers[i].header, eh_abis[k], &eh, &error), headers[i].want),
                "%s", headers[i].name);
            cr_expect(eq(u32, eh.table, headers[i].table), "%s", headers[i].name);
            cr_expect(eq(u32, eh.count, headers[i].count), "%s", headers[i].name);
            if (headers[i].want != SFB_OK) {
                cr_expect(eq(u32, eh.size, 1), "%s: written", headers[i].name);
                cr_expect(error.status == headers[i].want && error.field != NULL, "%s",
                          headers[i].name);
            }
        }
}

/* At byte 5 of a segment whose header is at byte 2. */
static const struct {
    uint8_t encoding;
    const struct item *bytes;
    uint64_t want;
} pointers[] = {
    { 0x00, ITEMS(Q(0x123456789abcdef0)), 0x123456789abcdef0 },
    { 0x01, ITEMS(U(0x12345)), 0x12345 },
    { 0x02, ITEMS(H(0xfedc)), 0xfedc },
    { 0x03, ITEMS(W(0xfedcba98)), 0xfedcba98 },
    { 0x04, ITEMS(Q(-2)), (uint64_t)-2 },
    { 0x09, ITEMS(S(-300)), (uint64_t)-300 },
    { 0x0a, ITEMS(H(-2)), (uint64_t)-2 },
    { 0x0b, ITEMS(W(-2)), (uint64_t)-2 },
    { 0x0c, ITEMS(Q(-2)), (uint64_t)-2 },
    { 0x10, ITEMS(Q(16)), ADDRESS + 5 + 16 },
    { 0x11, ITEMS(U(300)), ADDRESS + 5 + 300 },
    { 0x12, ITEMS(H(0xfedc)), ADDRESS + 5 + 0xfedc },
    { 0x13, ITEMS(W(0xfedcba98)), ADDRESS + 5 + 0xfedcba98 },
    { 0x19, ITEMS(S(-300)), ADDRESS + 5 - 300 },
    { 0x1a, ITEMS(H(-2)), ADDRESS + 5 - 2 },
    { 0x1b, ITEMS(W(-2)), ADDRESS + 5 - 2 },
    { 0x1c, ITEMS(Q(-2)), ADDRESS + 5 - 2 },
    { 0x3b, ITEMS(W(-2)), ADDRESS + 2 - 2 },
    { 0x33, ITEMS(W(7)), ADDRESS + 2 + 7 },
    { 0x1b, ITEMS(W(0)), 0 }, /* zero is "none", wherever it is counted from */
    { 0x3b, ITEMS(W(0)), 0 },
    { 0x50, ITEMS(B(1), B(2), B(3), Q(0x123456789abcdef0)), 0x123456789abcdef0 },
};

/* Pages: the header at the end of the first and .eh_frame at the start of the third, or the other
 * way round; the second cannot be touched. */
struct split {
    uint8_t *map, *hdr, *frames;
    size_t page, hdr_size, frames_size;
    uint64_t frames_address;
    struct eh_bytes bytes;
};

static struct split split_new(enum sfb_abi abi, bool below)
{
    struct eh_layout l = layout_of(abi);
    struct split s = { .page = (size_t)sysconf(_SC_PAGESIZE) };
    int64_t shift;

    l.encoding = 0x3b; /* datarel: entries may move */
    s.bytes = eh_frame_bytes(&l);
    s.hdr_size = s.bytes.cie;
    s.frames_size = s.bytes.n - s.hdr_size;
    s.map = mmap(NULL, 3 * s.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(s.map != MAP_FAILED);
    s.hdr = s.map + (below ? 2 * s.page : s.page - s.hdr_size);
    s.frames = s.map + (below ? s.page - s.frames_size : 2 * s.page);
    shift = (s.frames - s.hdr) - (int64_t)s.hdr_size;
    s.frames_address = ADDRESS + s.hdr_size + (uint64_t)shift;
    for (uint32_t i = 0; i < l.count; i++)
        eh_bytes_set(&s.bytes, s.bytes.table + i * 8 + 4, 4,
                     s.bytes.fde[i] - s.bytes.hdr + (uint64_t)shift);
    eh_bytes_set(&s.bytes, s.bytes.hdr + 4, 4, s.hdr_size - s.bytes.hdr - 4 + (uint64_t)shift);
    memcpy(s.hdr, s.bytes.at, s.hdr_size);
    memcpy(s.frames, s.bytes.at + s.hdr_size, s.frames_size);
    cr_assert(eq(int, mprotect(s.map + s.page, s.page, PROT_NONE), 0));
    return s;
}

Test(eh_frame_extend, reads_two_segments_and_nothing_between_them)
{
    for (size_t i = 0; i < 2 * COUNT(eh_abis); i++) {
        const bool below = i % 2;
        struct split s = split_new(eh_abis[i / 2], below);
        struct sfb_eh_frame eh;
        struct sfb_cfi_fde fde;
        struct sfb_rule rule;

        cr_assert(eq(int, eh_bytes_open(&eh, &s.bytes, s.hdr, s.hdr_size), SFB_OK));
        cr_expect(eq(u64, eh.frames, s.frames_address));
        cr_expect(ne(int, sfb_eh_frame_fde(&eh, 0, &fde, NULL), SFB_OK), "before");
        cr_assert(
            eq(int, sfb_eh_frame_extend(&eh, s.frames, s.frames_size, s.frames_address), SFB_OK));
        cr_expect(eq(u32, eh.size - (eh.gap_end - eh.gap), (uint32_t)s.bytes.n));
        for (uint32_t k = 0; k < eh.count; k++) {
            cr_expect(eq(int, sfb_eh_frame_fde(&eh, k, &fde, NULL), SFB_OK));
            cr_expect(eq(u64, fde.start, ADDRESS + 3 + (uint64_t)functions[k].start));
            if (functions[k].size > 0)
                cr_expect(eq(int, sfb_eh_frame_find(&eh, fde.start, &rule, NULL), SFB_OK));
        }
        cr_expect(eq(int, sfb_eh_frame_extend(&eh, s.frames, 8, s.frames_address + 4 * s.page),
                     SFB_BAD_ARGUMENT),
                  "a third one");
        munmap(s.map, 3 * s.page);
    }
}

Test(eh_frame_extend, refuses_entries_that_lead_out_of_both)
{
    for (size_t i = 0; i < 2 * COUNT(eh_abis); i++) {
        const bool below = i % 2;
        struct split s = split_new(eh_abis[i / 2], below);
        struct sfb_eh_frame eh;
        struct sfb_cfi_fde fde;

        cr_assert(eq(int, eh_bytes_open(&eh, &s.bytes, s.hdr, s.hdr_size), SFB_OK));
        /* Cut off at each byte, at the far end. */
        for (size_t n = 0; n < s.bytes.fde[0] + 4 - s.hdr_size; n++) {
            struct sfb_eh_frame cut = eh;

            cr_assert(eq(int, sfb_eh_frame_extend(&cut, s.frames, n, s.frames_address), SFB_OK));
            cr_expect(ne(int, sfb_eh_frame_fde(&cut, 0, &fde, NULL), SFB_OK), "%zu", n);
        }
        cr_assert(
            eq(int, sfb_eh_frame_extend(&eh, s.frames, s.frames_size, s.frames_address), SFB_OK));
        {
            const uint32_t places[] = { eh.gap - 3, eh.gap, eh.gap + 1, eh.gap_end - 1 };

            for (size_t k = 0; k < COUNT(places); k++) {
                eh_bytes_set(&s.bytes, s.bytes.table + 4, 4, places[k] - eh.hdr);
                memcpy(s.hdr, s.bytes.at, s.hdr_size);
                cr_expect(ne(int, sfb_eh_frame_fde(&eh, 0, &fde, NULL), SFB_OK), "%zu", k);
            }
        }
        munmap(s.map, 3 * s.page);
    }
}

Test(eh_frame_extend, refuses_what_cannot_be_one_stretch)
{
    struct split s = split_new(SFB_ABI_AMD64_LE, false);
    struct sfb_eh_frame eh;

    cr_assert(eq(int, eh_bytes_open(&eh, &s.bytes, s.hdr, s.hdr_size), SFB_OK));
    cr_expect(eq(int, sfb_eh_frame_extend(NULL, s.frames, 8, s.frames_address), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_eh_frame_extend(&eh, NULL, 8, s.frames_address), SFB_BAD_ARGUMENT));
    cr_expect(
        eq(int, sfb_eh_frame_extend(&eh, s.frames, 8, s.frames_address + 8), SFB_BAD_ARGUMENT),
        "elsewhere");
    cr_expect(eq(int, sfb_eh_frame_extend(&eh, s.hdr + 8, 8, ADDRESS + 8), SFB_BAD_ARGUMENT),
              "an overlap");
    cr_expect(eq(int, sfb_eh_frame_extend(&eh, s.hdr - 8, 9, ADDRESS - 8), SFB_BAD_ARGUMENT),
              "an overlap");
    cr_expect(
        eq(int, sfb_eh_frame_extend(&eh, s.frames, UINT32_MAX, s.frames_address), SFB_BAD_ARGUMENT),
        "4 GiB");
    cr_expect(eq(u32, eh.size, (uint32_t)s.hdr_size));
    munmap(s.map, 3 * s.page);
}

Test(eh_pointer, reads_every_encoding_and_refuses_every_proper_prefix)
{
    struct guarded g = guarded_new(SIZE_MAX_HERE);

    for (size_t i = 0; i < COUNT(pointers); i++)
        for (size_t k = 0; k < COUNT(eh_abis); k++) {
            uint8_t bytes[32] = { 0 };
            const bool big = eh_abis[k] == SFB_ABI_AARCH64_BE;
            const size_t n = 5 + eh_items_put(bytes + 5, 20, pointers[i].bytes, eh_abis[k]);

            for (size_t size = 5; size <= n; size++) {
                struct sfb_eh_frame eh = { .data = guarded_copy(&g, bytes, size),
                                           .address = ADDRESS,
                                           .size = (uint32_t)size,
                                           .hdr = 2,
                                           .abi = (uint8_t)eh_abis[k],
                                           .swap =
                                               big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) };
                struct sfb_reader r = sfb_eh_window(&eh, 5, size);
                uint64_t got = 1;
                const bool read = sfb_eh_pointer(&eh, &r, pointers[i].encoding, &got);

                cr_expect(eq(int, read, size == n), "%#x, %zu bytes", pointers[i].encoding, size);
                if (read) {
                    cr_expect(eq(u64, got, pointers[i].want), "%#x", pointers[i].encoding);
                    cr_expect(eq(sz, r.left, 0), "%#x", pointers[i].encoding);
                }
            }
        }
    guarded_free(&g);
}

Test(eh_pointer, refuses_every_other_encoding)
{
    uint8_t bytes[16] = { 1 };
    struct sfb_eh_frame eh = { .data = bytes, .size = sizeof bytes, .abi = SFB_ABI_AMD64_LE };

    for (unsigned encoding = 0; encoding < 256; encoding++) {
        struct sfb_reader r = sfb_eh_window(&eh, 0, sizeof bytes);
        const unsigned format = encoding & 0x0f, base = encoding & 0xf0;
        const bool known = (format <= 4 || (format >= 9 && format <= 12)) &&
                           (base == 0x00 || base == 0x10 || base == 0x30);
        uint64_t out;

        cr_expect(
            eq(int, sfb_eh_pointer(&eh, &r, (uint8_t)encoding, &out), known || encoding == 0x50),
            "%#x", encoding);
    }
}

/* Place from the header; which function, or none. */
static const struct {
    int64_t place;
    int want;
} places[] = {
    { INT64_MIN, -1 },
    { INT32_MIN, -1 },
    { -0x3001, -1 },
    { -0x3000, 0 },
    { -0x2ff1, 0 },
    { -0x2ff0, 1 },
    { -0x2fd1, 1 },
    { -0x2fd0, -1 },
    { -0x2001, -1 },
    { -0x2000, 2 },
    { -0x1001, 2 },
    { -0x1000, -1 },
    { 0, -1 },
    { 0x7fff, -1 },
    { 0x8000, 3 },
    { 0x8001, -1 },
    { 0x800f, -1 },
    { 0x8010, -1 },
    { 0x8011, -1 },
    { 0x801f, -1 },
    { 0x8020, 5 },
    { 0x8027, 5 },
    { 0x8028, -1 },
    { INT32_MAX, -1 },
    { (int64_t)1 << 31, -1 },
    { INT64_MAX, -1 },
    { (int64_t)1 << 32, -1 },
    { ((int64_t)1 << 32) - 0x3000, -1 },
};

Test(eh_frame_fde_find, answers_each_case_wherever_the_segment_lies)
{
    static const uint64_t addresses[] = { ADDRESS, 0x10000, 0, 1, UINT64_MAX - 0x802b };

    for (size_t i = 0; i < COUNT(eh_abis); i++)
        for (size_t a = 0; a < COUNT(addresses); a++) {
            struct eh_layout l = layout_of(eh_abis[i]);
            struct eh_bytes b;
            struct sfb_eh_frame eh;

            l.address = addresses[a];
            b = eh_frame_bytes(&l);
            cr_assert(eq(int, eh_bytes_open(&eh, &b, b.at, b.n), SFB_OK));
            for (size_t k = 0; k < COUNT(places); k++) {
                const uint64_t pc = addresses[a] + b.hdr + (uint64_t)places[k].place;
                struct sfb_cfi_fde fde = { .offset = 0 };
                const enum sfb_status status = sfb_eh_frame_fde_find(&eh, pc, &fde, NULL);
                const bool found = places[k].want >= 0;

                cr_expect(eq(int, status, found ? SFB_OK : SFB_NO_CFI), "%#llx",
                          (unsigned long long)places[k].place);
                cr_expect(eq(u32, fde.offset, found ? (uint32_t)b.fde[places[k].want] : 0), "%#llx",
                          (unsigned long long)places[k].place);
            }
        }
}

/* Tables of every size, and a pc before, in and behind each function. */
Test(eh_frame_fde_find, finds_the_one_in_tables_of_all_sizes)
{
    struct eh_function even[FUNCTIONS_MAX];

    for (uint32_t i = 0; i < FUNCTIONS_MAX; i++)
        even[i] = (struct eh_function){ -0x1000 + (int64_t)i * 16, 8, NULL };
    for (uint32_t count = 0; count <= FUNCTIONS_MAX; count++)
        for (size_t k = 0; k < COUNT(eh_abis); k++) {
            struct eh_layout l = {
                .abi = eh_abis[k], .address = ADDRESS, .count = count, .functions = even
            };
            struct eh_bytes b = eh_frame_bytes(&l);
            struct sfb_eh_frame eh;
            struct sfb_cfi_fde fde;

            cr_assert(eq(int, eh_bytes_open(&eh, &b, b.at, b.n), SFB_OK));
            for (int64_t place = -16; place < (count + 1) * 16; place += 4) {
                const bool inside = place >= 0 && place < count * 16 && place % 16 < 8;
                const enum sfb_status status =
                    sfb_eh_frame_fde_find(&eh, ADDRESS - 0x1000 + (uint64_t)place, &fde, NULL);

                cr_expect(eq(int, status, inside ? SFB_OK : SFB_NO_CFI), "%u, %lld", count,
                          (long long)place);
                if (inside)
                    cr_expect(eq(u32, fde.offset, (uint32_t)b.fde[place / 16]));
            }
        }
}

/* Entries in the segment, outside of it, and at its end; starts that are not those of the entries.
 */
Test(eh_frame_fde_find, believes_the_entry_and_not_the_table)
{
    struct guarded g = guarded_new(SIZE_MAX_HERE);

    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        const struct eh_bytes good = eh_frame_bytes(&l);
        const uint64_t pc = ADDRESS + good.hdr - 0x2000;
        const int64_t past = (int64_t)(good.n - good.hdr);
        const struct {
            int64_t start, entry;
            enum sfb_status want;
        } cases[] = {
            { -0x2000, (int64_t)(good.fde[2] - good.hdr), SFB_OK },
            { -0x2001, (int64_t)(good.fde[2] - good.hdr), SFB_OK },
            { -0x1fff, (int64_t)(good.fde[2] - good.hdr), SFB_NO_CFI }, /* [1] is nearest, then */
            { -0x2000, (int64_t)(good.fde[1] - good.hdr), SFB_NO_CFI },
            { -0x2000, -4, SFB_BAD_CFI },
            { -0x2000, INT32_MIN, SFB_BAD_CFI },
            { -0x2000, INT32_MAX, SFB_BAD_CFI },
            { -0x2000, past, SFB_BAD_CFI },
            { -0x2000, past - 1, SFB_TRUNCATED },
            { -0x2000, past - 4, SFB_BAD_CFI },                       /* a length of zero */
            { -0x2000, (int64_t)(good.cie - good.hdr), SFB_BAD_CFI }, /* no FDE */
            { -0x2000, -(int64_t)good.hdr, SFB_TRUNCATED },           /* ff ff ff 01 */
        };

        for (size_t k = 0; k < COUNT(cases); k++) {
            struct eh_bytes b = good;
            struct sfb_error error = { SFB_OK, NULL, 0 };
            struct sfb_eh_frame eh;
            struct sfb_cfi_fde fde;
            enum sfb_status status;

            eh_bytes_set(&b, b.table + 16, 4, (uint64_t)cases[k].start);
            eh_bytes_set(&b, b.table + 20, 4, (uint64_t)cases[k].entry);
            memset(b.at + b.n - 4, 0, 4);
            cr_assert(eq(int, eh_bytes_open(&eh, &b, guarded_copy(&g, b.at, b.n), b.n), SFB_OK));
            status = sfb_eh_frame_fde_find(&eh, pc, &fde, &error);
            cr_expect(eq(int, status, cases[k].want), "%zu", k);
            if (status == SFB_BAD_CFI || status == SFB_TRUNCATED)
                cr_expect(error.status == status && error.field && error.offset <= b.n, "%zu", k);
        }
    }
    guarded_free(&g);
}

/* The first entry is not even read. */
Test(eh_frame_fde_find, finds_nothing_before_the_first_start)
{
    struct eh_layout l = layout_of(SFB_ABI_AMD64_LE);
    struct eh_bytes b = eh_frame_bytes(&l);
    struct sfb_eh_frame eh;
    struct sfb_cfi_fde fde;
    const uint64_t first = ADDRESS + b.hdr - 0x3000;

    eh_bytes_set(&b, b.fde[0] + 4, 4, 0);
    cr_assert(eq(int, eh_bytes_open(&eh, &b, b.at, b.n), SFB_OK));
    cr_expect(eq(int, sfb_eh_frame_fde_find(&eh, first - 1, &fde, NULL), SFB_NO_CFI));
    cr_expect(eq(int, sfb_eh_frame_fde_find(&eh, first, &fde, NULL), SFB_BAD_CFI));
}

/* Of two entries with one start, one of them empty, the last answers, as in libgcc: GNU ld sorts by
 * size then. A table that kept the empty one alone (BOLT does) hides the other. */
Test(eh_frame_fde_find, takes_the_last_of_several_with_one_start)
{
    static const struct eh_function twins[] = {
        { -0x100, 0, NULL }, { -0x100, 0x20, NULL }, { -0x80, 0x20, NULL }, { -0x80, 0, NULL }
    };
    struct eh_layout l = {
        .abi = SFB_ABI_AMD64_LE, .address = ADDRESS, .count = 4, .functions = twins
    };
    struct eh_bytes b = eh_frame_bytes(&l);
    struct sfb_eh_frame eh;
    struct sfb_cfi_fde fde;

    cr_assert(eq(int, eh_bytes_open(&eh, &b, b.at, b.n), SFB_OK));
    cr_assert(eq(int, sfb_eh_frame_fde_find(&eh, ADDRESS - 0x100, &fde, NULL), SFB_OK));
    cr_expect(eq(u32, fde.offset, (uint32_t)b.fde[1]));
    cr_expect(eq(int, sfb_eh_frame_fde_find(&eh, ADDRESS - 0x80, &fde, NULL), SFB_NO_CFI));
}

/* Each byte of header, table and entries set to a few values: nothing is read outside. */
Test(eh_frame_fde_find, stays_inside_of_corrupt_segments)
{
    static const uint8_t values[] = { 0x00, 0x01, 0x3b, 0x50, 0x7f, 0x80, 0xff };
    struct guarded g = guarded_new(SIZE_MAX_HERE);

    for (size_t i = 0; i < COUNT(eh_abis); i++) {
        struct eh_layout l = layout_of(eh_abis[i]);
        const struct eh_bytes b = eh_frame_bytes(&l);

        for (size_t at = b.hdr; at < b.n; at++)
            for (size_t v = 0; v < COUNT(values); v++) {
                uint8_t *copy = guarded_copy(&g, b.at, b.n);
                struct sfb_eh_frame eh;
                struct sfb_cfi_fde fde;
                struct sfb_rule rule;

                copy[at] = values[v];
                if (eh_bytes_open(&eh, &b, copy, b.n) != SFB_OK)
                    continue;
                for (size_t k = 0; k < COUNT(functions); k++) {
                    const uint64_t pc = ADDRESS + b.hdr + (uint64_t)functions[k].start;

                    if (sfb_eh_frame_fde_find(&eh, pc, &fde, NULL) == SFB_OK)
                        cr_expect(pc >= fde.start && pc < fde.end);
                    sfb_eh_frame_find(&eh, pc, &rule, NULL);
                }
            }
    }
    guarded_free(&g);
}

/* Offsets are 32 bits wide. */
Test(eh_frame_open, reads_a_header_near_4_gib)
{
    const size_t size = UINT32_MAX;
    const size_t hdr = size - 0xfff - 200;
    struct eh_layout l = {
        .abi = SFB_ABI_AMD64_LE, .address = ADDRESS, .count = 3, .functions = functions
    };
    struct eh_bytes b = eh_frame_bytes(&l);
    uint8_t *big = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct sfb_eh_frame eh;
    struct sfb_cfi_fde fde;

    cr_assert(ne(ptr, big, MAP_FAILED));
    cr_assert(eq(int, mprotect(big + size - 0x1fff, 0x1fff, PROT_READ | PROT_WRITE), 0));
    memcpy(big + hdr, b.at, b.n);
    cr_assert(eq(int,
                 sfb_eh_frame_open(&eh, big, size, ADDRESS - hdr, ADDRESS, SFB_ABI_AMD64_LE, NULL),
                 SFB_OK));
    cr_assert(eq(int, sfb_eh_frame_fde_find(&eh, ADDRESS - 0x2000, &fde, NULL), SFB_OK));
    cr_expect(eq(u32, fde.offset, (uint32_t)(hdr + b.fde[2])));
    munmap(big, size);
}
