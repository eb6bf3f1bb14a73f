/* What the encoder writes, frame by frame, and what it refuses. */
#include <string.h>

#include "cbf/drop.h"
#include "sfb/cbf.h"

#include "cbf/put.h"
#include "support/cbf_frames.h"
#include "support/test.h"

#define PC    SFB_FRAME_PC
#define RA    SFB_FRAME_RA
#define ASYNC SFB_FRAME_ASYNC
#define OMIT  SFB_FRAME_OMIT

static struct sfb_cbf_encoder started(uint8_t *buffer, size_t size, unsigned word_bits)
{
    struct sfb_cbf_encoder e;

    cr_assert(eq(int, sfb_cbf_encoder_init(&e, buffer, size, word_bits), SFB_OK));
    return e;
}

Test(cbf_encoder, judges_its_arguments)
{
    static const struct {
        bool out, buffer;
        size_t size;
        unsigned word_bits;
        enum sfb_status want;
    } cases[] = {
        { true, true, 2, 16, SFB_OK },
        { true, true, 2, 32, SFB_OK },
        { true, true, 2, 64, SFB_OK },
        { false, true, 2, 64, SFB_BAD_ARGUMENT },
        { true, false, 2, 64, SFB_BAD_ARGUMENT },
        { true, true, 1, 64, SFB_BUFFER_TOO_SMALL },
        { true, true, 0, 64, SFB_BUFFER_TOO_SMALL },
        { true, true, 2, 0, SFB_BAD_ARGUMENT },
        { true, true, 2, 8, SFB_BAD_ARGUMENT },
        { true, true, 2, 63, SFB_BAD_ARGUMENT },
        { true, true, 2, 128, SFB_BAD_ARGUMENT },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_cbf_encoder e;
        uint8_t buffer[2];
        enum sfb_status got =
            sfb_cbf_encoder_init(cases[i].out ? &e : NULL, cases[i].buffer ? buffer : NULL,
                                 cases[i].size, cases[i].word_bits);

        cr_expect(eq(int, got, cases[i].want), "case %zu", i);
    }
}

static const struct {
    const char *name;
    unsigned word_bits;
    size_t count;
    struct cbf_frame frames[4];
    bool truncated;
    const char *want;
} lists[] = {
    { "nothing, 16", 16, 0, { { PC, 0 } }, false, "0000" },
    { "nothing, 32", 32, 0, { { PC, 0 } }, false, "0100" },
    { "nothing, 64, truncated", 64, 0, { { PC, 0 } }, true, "0201" },
    { "each kind", 64, 3, { { PC, 1 }, { RA, 2 }, { ASYNC, 3 } }, false, "02 1801 2001 3001 00" },
    { "first is zero", 64, 1, { { RA, 0 } }, false, "02 2800 00" },
    { "first, also relative would be shorter", 64, 1, { { RA, 0x80 } }, false, "02 290080 00" },
    { "eight bytes", 64, 1, { { PC, INT64_MAX } }, false, "02 1f7fffffffffffffff 00" },
    { "top address", 64, 1, { { PC, UINT64_MAX } }, false, "02 18ff 00" },
    { "top of 32 bits", 32, 1, { { PC, UINT32_MAX } }, false, "01 18ff 00" },
    { "top of 32 in 64", 64, 1, { { PC, UINT32_MAX } }, false, "02 1c00ffffffff 00" },
    { "half of 16 bits", 16, 1, { { PC, 0x8000 } }, false, "00 198000 00" },
    { "same address, other kind", 64, 2, { { PC, 5 }, { RA, 5 } }, false, "02 1805 2000 00" },
    { "omit, then as before",
      64,
      3,
      { { RA, 5 }, { OMIT, 1 }, { RA, 5 } },
      false,
      "02 2805 40 2000 00" },
    { "omit twice is no rep", 64, 2, { { OMIT, 3 }, { OMIT, 3 } }, false, "02 42 42 00" },
    { "omit first", 64, 2, { { OMIT, 3 }, { PC, 5 } }, false, "02 42 1805 00" },
    { "omit 32", 64, 1, { { OMIT, 32 } }, false, "02 5f 00" },
    { "omit 33", 64, 1, { { OMIT, 33 } }, false, "02 6021 00" },
    { "omit 255", 64, 1, { { OMIT, 255 } }, false, "02 60ff 00" },
    { "omit 256", 64, 1, { { OMIT, 256 } }, false, "02 610100 00" },
    { "omit the most, 16", 16, 1, { { OMIT, 0xffff } }, false, "00 61ffff 00" },
    { "omit the most, 64", 64, 1, { { OMIT, UINT64_MAX } }, false, "02 67ffffffffffffffff 00" },
    { "two runs",
      64,
      4,
      { { RA, 1 }, { RA, 1 }, { PC, 1 }, { PC, 1 } },
      false,
      "02 2801 80 1000 80 00" },
};

Test(cbf_encoder, writes_each_list)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint8_t got[64], want[64];
        size_t want_size = cbf_bytes(want, sizeof want, lists[i].want);
        size_t size = cbf_encode(got, sizeof got, lists[i].word_bits, lists[i].frames,
                                 lists[i].count, lists[i].truncated);

        cr_expect(eq(sz, size, want_size), "%s", lists[i].name);
        cr_expect(eq(int, memcmp(got, want, want_size), 0), "%s", lists[i].name);
    }
}

Test(cbf_encoder, refuses_what_the_word_cannot_hold)
{
    static const struct {
        unsigned word_bits;
        enum sfb_frame_kind kind;
        uint64_t value;
    } cases[] = {
        { 16, PC, 0x10000 },      { 16, OMIT, 0x10000 },
        { 16, RA, UINT64_MAX },   { 32, PC, 1ull << 32 },
        { 32, OMIT, 1ull << 32 }, { 32, ASYNC, 1ull << 63 },
        { 64, OMIT, 0 },          { 64, (enum sfb_frame_kind)4, 1 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t buffer[32] = { 0 }, before[32];
        struct sfb_cbf_encoder e = started(buffer, sizeof buffer, cases[i].word_bits), kept = e;

        memcpy(before, buffer, sizeof before);
        cr_expect(eq(int, sfb_cbf_encoder_put(&e, cases[i].kind, cases[i].value), SFB_BAD_ARGUMENT),
                  "case %zu", i);
        cr_expect(eq(int, memcmp(&e, &kept, sizeof e), 0), "case %zu", i);
        cr_expect(eq(int, memcmp(buffer, before, sizeof before), 0), "case %zu", i);
    }
}

/* Bytes of the fewest rep instructions for so many repeats, from the format's description. */
static size_t reps_size(uint64_t repeats, uint64_t most)
{
    size_t size = 0;

    for (; repeats > 0; repeats -= repeats < most ? repeats : most) {
        uint64_t now = repeats < most ? repeats : most;

        size += now <= 8 ? 1 : now <= 0xff ? 2 : now <= 0xffff ? 3 : 4;
    }
    return size;
}

static void expect_growing_rep(unsigned word_bits, uint64_t most)
{
    uint8_t buffer[32];
    struct sfb_cbf_encoder e = started(buffer, sizeof buffer, word_bits);

    sfb_cbf_encoder_put(&e, RA, 0x7f);
    for (uint64_t repeats = 1; repeats <= 2 * most + 300; repeats++) {
        enum sfb_status status = sfb_cbf_encoder_put(&e, RA, 0x7f);
        size_t size = sfb_cbf_encoder_end(&e, false);

        if (status != SFB_OK || size != 3 + reps_size(repeats, most) + 1)
            cr_fatal("%u bits, %llu repeats: status %d, %zu bytes", word_bits,
                     (unsigned long long)repeats, (int)status, size);
    }
}

Test(cbf_encoder, grows_one_rep_in_place_and_opens_another_when_it_is_full)
{
    expect_growing_rep(16, 0xffff);
    expect_growing_rep(32, SFB_CBF_REP_MAX);
    expect_growing_rep(64, SFB_CBF_REP_MAX);
}

Test(cbf_encoder, counts_the_same_run_as_its_decoder)
{
    static const uint64_t runs[] = {
        1, 8, 9, 255, 256, 65535, 65536, 65543, 1 << 20, (1 << 20) + 9
    };

    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        for (unsigned word_bits = 16; word_bits <= 64; word_bits *= 2) {
            uint8_t buffer[128];
            struct sfb_cbf_encoder e = started(buffer, sizeof buffer, word_bits);
            struct sfb_cbf_decoder d;
            struct sfb_cbf_item item;
            uint64_t count = 0;
            bool full = false;

            for (uint64_t n = 0; n <= runs[i]; n++)
                full |= sfb_cbf_encoder_put(&e, PC, 9) != SFB_OK;
            cr_expect(not(full));
            sfb_cbf_decoder_init(&d, buffer, sfb_cbf_encoder_end(&e, false), NULL, NULL);
            while (sfb_cbf_decoder_next(&d, &item, NULL) == SFB_OK)
                count += item.count;
            cr_expect(eq(u64, count, runs[i] + 1));
        }
    }
}

Test(cbf_encoder, changes_nothing_when_the_frame_does_not_fit)
{
    static const struct {
        const char *name;
        size_t size; /* such that the last frame is one byte too large */
        size_t count;
        struct cbf_frame frames[4];
        bool repeats_first_frame; /* eight times more: the next grows the rep by a byte */
    } cases[] = {
        { "address", 3, 1, { { PC, 1 } }, false },
        { "wide address", 10, 1, { { PC, INT64_MAX } }, false },
        { "second address", 5, 2, { { PC, 1 }, { RA, 2 } }, false },
        { "short omit", 2, 1, { { OMIT, 1 } }, false },
        { "long omit", 3, 1, { { OMIT, 255 } }, false },
        { "new rep", 4, 2, { { PC, 1 }, { PC, 1 } }, false },
        { "growing rep", 5, 2, { { PC, 1 }, { PC, 1 } }, true },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t buffer[32], before[32];
        struct sfb_cbf_encoder e, kept;
        struct cbf_frame last = cases[i].frames[cases[i].count - 1];

        memset(buffer, 0xee, sizeof buffer);
        e = started(buffer, cases[i].size, 64);
        for (size_t n = 0; n + 1 < cases[i].count; n++)
            cr_expect(eq(int,
                         sfb_cbf_encoder_put(&e, cases[i].frames[n].kind, cases[i].frames[n].value),
                         SFB_OK));
        for (size_t n = 0; cases[i].repeats_first_frame && n < 8; n++)
            cr_expect(eq(int, sfb_cbf_encoder_put(&e, last.kind, last.value), SFB_OK));
        kept = e;
        memcpy(before, buffer, sizeof before);

        cr_expect(eq(int, sfb_cbf_encoder_put(&e, last.kind, last.value), SFB_BUFFER_FULL), "%s",
                  cases[i].name);
        cr_expect(eq(int, memcmp(&e, &kept, sizeof e), 0), "%s", cases[i].name);
        cr_expect(eq(int, memcmp(buffer, before, sizeof before), 0), "%s", cases[i].name);

        sfb_cbf_encoder_extend(&e, cases[i].size + 1);
        cr_expect(eq(int, sfb_cbf_encoder_put(&e, last.kind, last.value), SFB_OK), "%s",
                  cases[i].name);
        cr_expect(eq(sz, sfb_cbf_encoder_end(&e, true), cases[i].size + 1), "%s", cases[i].name);
        cr_expect(eq(int, buffer[cases[i].size + 1], 0xee), "%s", cases[i].name);
    }
}

Test(cbf_encoder, never_shrinks_its_buffer)
{
    uint8_t buffer[4];
    struct sfb_cbf_encoder e = started(buffer, sizeof buffer, 64);

    sfb_cbf_encoder_extend(&e, 2);
    sfb_cbf_encoder_extend(&e, 0);
    cr_expect(eq(int, sfb_cbf_encoder_put(&e, PC, 1), SFB_OK));
    cr_expect(eq(sz, sfb_cbf_encoder_end(&e, false), 4));
}

Test(cbf_encoder, goes_on_after_an_end)
{
    static const struct cbf_frame frames[] = { { PC, 1 }, { PC, 1 }, { RA, 0x1234 }, { OMIT, 7 } };
    uint8_t stopped[32], whole[32];
    struct sfb_cbf_encoder e = started(stopped, sizeof stopped, 64);
    size_t size = cbf_encode(whole, sizeof whole, 64, frames, 4, false), got = 0;

    for (size_t i = 0; i < 4; i++) {
        sfb_cbf_encoder_put(&e, frames[i].kind, frames[i].value);
        got = sfb_cbf_encoder_end(&e, true);
        cr_expect(eq(int, stopped[got - 1], 1));
        got = sfb_cbf_encoder_end(&e, false);
    }
    cr_expect(eq(sz, got, size));
    cr_expect(eq(int, memcmp(stopped, whole, size), 0));
}

/* Where the walk behind the front doors learns too late that its last frame is none. */
Test(cbf_encoder, takes_the_last_frame_back)
{
    static const uint64_t addresses[] = { 0x401000, 0x401008, 0x7fff12345678, 6 };

    for (size_t n = 1; n <= sizeof addresses / sizeof *addresses; n++) {
        uint8_t with[64], without[64];
        struct sfb_cbf_encoder e = started(with, sizeof with, 64);
        struct sfb_cbf_encoder fewer = started(without, sizeof without, 64);
        uint64_t before = 0;
        size_t size;

        for (size_t i = 0; i < n; i++) {
            cr_assert(eq(int, sfb_cbf_encoder_put(&e, RA, addresses[i]), SFB_OK));
            if (i + 1 < n)
                cr_assert(eq(int, sfb_cbf_encoder_put(&fewer, RA, addresses[i]), SFB_OK));
        }
        cr_expect(eq(int, sfb_cbf_encoder_drop(&e, &before), n > 1), "%zu", n);
        if (n > 1)
            cr_expect(eq(u64, before, addresses[n - 2]), "%zu", n);
        size = sfb_cbf_encoder_end(&fewer, true);
        cr_assert(eq(sz, sfb_cbf_encoder_end(&e, true), size), "%zu", n);
        cr_expect(zero(int, memcmp(with, without, size)), "%zu", n);
    }
}

Test(cbf_encoder, takes_nothing_back_where_nothing_is)
{
    uint8_t buffer[16];
    struct sfb_cbf_encoder e = started(buffer, sizeof buffer, 64);
    uint64_t before = 4711;

    cr_expect(not(sfb_cbf_encoder_drop(&e, &before)));
    cr_expect(eq(sz, sfb_cbf_encoder_end(&e, true), 2));
}

/* Many repeats at once are the bytes of as many puts, and as many of them find room. */
Test(cbf_encoder, repeats_at_once_as_one_by_one)
{
    static const uint32_t counts[] = { 0, 1, 2, 7, 8, 9, 255, 256, 300, 65536, 70000 };
    uint8_t one[32], many[32];

    for (size_t size = 12; size < sizeof one; size++) {
        for (unsigned before = 0; before < 3; before++) {
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                struct sfb_cbf_encoder a, b;
                uint32_t put = 0;

                cr_assert(eq(int, sfb_cbf_encoder_init(&a, one, size, 64), SFB_OK));
                cr_assert(eq(int, sfb_cbf_encoder_init(&b, many, size, 64), SFB_OK));
                for (unsigned i = 0; i <= before; i++) {
                    cr_assert(eq(int, sfb_cbf_encoder_put(&a, SFB_FRAME_RA, 0x123456), SFB_OK));
                    cr_assert(eq(int, sfb_cbf_encoder_put(&b, SFB_FRAME_RA, 0x123456), SFB_OK));
                }
                while (put < counts[c] && sfb_cbf_encoder_put(&a, SFB_FRAME_RA, 0x123456) == SFB_OK)
                    put++;
                cr_assert(eq(u32, cbf_encoder_repeat(&b, counts[c]), put));
                cr_assert(eq(sz, sfb_cbf_encoder_end(&a, false), sfb_cbf_encoder_end(&b, false)));
                cr_assert(eq(int, memcmp(one, many, (size_t)(b.pos - b.start) + 1), 0));
            }
        }
    }
}
