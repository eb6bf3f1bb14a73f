/* What holds for every list of frames and every buffer, tried on random ones with fixed seeds. */
#include "sfb/cbf.h"
#include "support/cbf_frames.h"
#include "support/guarded.h"
#include "support/test.h"

static const unsigned words[] = { 16, 32, 64 };

/* splitmix64 */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t v = *state += 0x9e3779b97f4a7c15u;

    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_bits(state) % n;
}

/* A number of a random width, so that every operand size comes up. */
static uint64_t random_value(uint64_t *state, unsigned word_bits)
{
    return random_bits(state) >> (64 - 1 - random_below(state, word_bits));
}

/* Frames as stacks have them and as they do not: near and far, up and down, equal ones, omits. */
static size_t random_frames(uint64_t *state, struct cbf_frame *out, size_t max, unsigned word_bits)
{
    uint64_t mask = UINT64_MAX >> (64 - word_bits), address = 0;
    size_t count = random_below(state, max + 1);

    for (size_t i = 0; i < count; i++) {
        uint64_t choice = random_below(state, 16);

        out[i].kind = (enum sfb_frame_kind)random_below(state, 3);
        if (choice < 4 && i > 0) {
            out[i] = out[i - 1];
            continue;
        }
        if (choice == 4) {
            out[i].kind = SFB_FRAME_OMIT;
            out[i].value = random_value(state, word_bits);
            if (out[i].value == 0)
                out[i].value = 1;
            continue;
        }
        if (choice < 8)
            address = random_value(state, word_bits);
        else if (choice < 12)
            address += random_value(state, word_bits);
        else
            address -= random_value(state, word_bits);
        address &= mask;
        out[i].value = address;
    }
    return count;
}

Test(cbf_properties, what_is_written_is_read)
{
    static struct cbf_frame frames[200], back[201];
    static uint8_t buffer[4096];
    uint64_t state = 1;

    for (int round = 0; round < 30000; round++) {
        unsigned word_bits = words[round % 3];
        size_t count = random_frames(&state, frames, 200, word_bits);
        bool truncated = random_below(&state, 2) == 0;
        size_t size = cbf_encode(buffer, sizeof buffer, word_bits, frames, count, truncated);
        uint32_t flags = SFB_CBF_REQUIRE_END | (round % 2 ? (uint32_t)SFB_CBF_EXPAND : 0);
        struct cbf_reading r = cbf_decode(buffer, size, flags, back, 201);
        bool equal = r.count == count;

        for (size_t i = 0; equal && i < count; i++)
            equal = cbf_frame_equal(frames[i], back[i]);
        if (r.status != SFB_END || r.truncated != truncated || r.consumed != size || !equal)
            cr_fatal("round %d: %zu frames, %u bits", round, count, word_bits);
    }
}

/* Whether bytes bytes, extended from their own sign, give the address modulo the word. */
static bool fits_signed(uint64_t v, unsigned bytes, uint64_t mask)
{
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    uint64_t low = bytes == 8 ? v : v & (sign + sign - 1);

    return ((((low ^ sign) - sign) ^ v) & mask) == 0;
}

static bool fits_unsigned(uint64_t v, unsigned bytes)
{
    return bytes == 8 || v >> 8 * bytes == 0;
}

/*
 * The size of the smallest backtrace: a shortest path over all instructions that may stand at each
 * frame, needlessly wide ones too. What an instruction means depends on the frames before it and on
 * nothing else, so that the number of frames written is all that the search has to know. A rep of
 * an omit is left out, since the encoder must not write one.
 */
static size_t least_size(const struct cbf_frame *frames, size_t count, unsigned word_bits)
{
    uint64_t mask = UINT64_MAX >> (64 - word_bits), last = 0;
    size_t best[1024];
    bool have_last = false;

    for (size_t i = 0; i <= count; i++)
        best[i] = i == 0 ? 1 : SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        struct cbf_frame f = frames[i];
        size_t single = SIZE_MAX, equal = 0;

        for (unsigned bytes = 1; bytes <= word_bits / 8; bytes++) {
            bool fits = f.kind == SFB_FRAME_OMIT
                            ? fits_unsigned(f.value, bytes)
                            : fits_signed(f.value, bytes, mask) ||
                                  (have_last && fits_signed(f.value - last, bytes, mask));

            if (fits && 1 + bytes < single)
                single = 1 + bytes;
        }
        if (f.kind == SFB_FRAME_OMIT && f.value <= 32)
            single = 1;
        if (best[i] + single < best[i + 1])
            best[i + 1] = best[i] + single;

        while (i > 0 && f.kind != SFB_FRAME_OMIT && i + equal < count &&
               cbf_frame_equal(frames[i - 1], frames[i + equal])) {
            equal++;
            for (unsigned bytes = 0; bytes <= word_bits / 8; bytes++)
                if ((bytes == 0 ? equal <= 8 : fits_unsigned(equal, bytes)) &&
                    best[i] + 1 + bytes < best[i + equal])
                    best[i + equal] = best[i] + 1 + bytes;
        }
        if (f.kind != SFB_FRAME_OMIT) {
            last = f.value;
            have_last = true;
        }
    }
    return best[count] + 1;
}

Test(cbf_properties, what_is_written_is_the_smallest)
{
    struct cbf_frame frames[40];
    uint8_t buffer[512];
    uint64_t state = 2;

    for (int round = 0; round < 100000; round++) {
        unsigned word_bits = words[round % 3];
        size_t count = random_frames(&state, frames, round % 8 ? 8 : 40, word_bits);
        size_t size, want;

        if (round % 10 == 0) /* a run that crosses the short form of rep */
            for (size_t i = 1; i < count; i++)
                frames[i] = frames[random_below(&state, 12) == 0 ? i : i - 1];
        size = cbf_encode(buffer, sizeof buffer, word_bits, frames, count, false);
        want = least_size(frames, count, word_bits);
        if (size != want)
            cr_fatal("round %d, %u bits: %zu bytes, %zu would do", round, word_bits, size, want);
    }
}

Test(cbf_properties, long_runs_are_the_smallest)
{
    static const size_t lengths[] = { 250, 256, 257, 258, 264, 265, 266, 272, 273, 512, 520, 1000 };
    static struct cbf_frame frames[1000];
    uint8_t buffer[32];

    for (size_t i = 0; i < 1000; i++)
        frames[i] = (struct cbf_frame){ SFB_FRAME_RA, 0x1234 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t w = 0; w < 3; w++)
            cr_expect(eq(sz, cbf_encode(buffer, sizeof buffer, words[w], frames, lengths[i], false),
                         least_size(frames, lengths[i], words[w])),
                      "%zu frames, %u bits", lengths[i], words[w]);
}

/* In each buffer the frames that fit, `trunc` if that is not all, and nothing written elsewhere. */
static void expect_every_size(const struct cbf_frame *frames, size_t count, unsigned word_bits)
{
    static uint8_t whole[2048];
    static struct cbf_frame back[128];
    size_t whole_size = cbf_encode(whole, sizeof whole, word_bits, frames, count, false);
    struct guarded g = guarded_new(whole_size);
    size_t fewest = 0;

    for (size_t size = 2; size <= whole_size; size++) {
        uint8_t *buffer = g.end - size;
        struct sfb_cbf_encoder e;
        struct cbf_reading r;
        size_t put = 0, used;

        memset(buffer, 0xee, size);
        sfb_cbf_encoder_init(&e, buffer, size, word_bits);
        while (put < count) {
            enum sfb_status status;
            size_t at = sfb_cbf_encoder_end(&e, true) - 1;

            for (size_t i = at + 9; i < size; i++)
                cr_assert(eq(int, buffer[i], 0xee), "byte %zu of %zu", i, size);
            status = sfb_cbf_encoder_put(&e, frames[put].kind, frames[put].value);
            if (status == SFB_BUFFER_FULL)
                break;
            cr_assert(eq(int, status, SFB_OK));
            put++;
        }
        used = sfb_cbf_encoder_end(&e, put < count);
        r = cbf_decode(buffer, used, SFB_CBF_REQUIRE_END | SFB_CBF_EXPAND, back, 128);
        cr_assert(eq(int, r.status, SFB_END), "size %zu", size);
        cr_assert(eq(sz, r.count, put));
        for (size_t i = 0; i < put; i++)
            cr_assert(cbf_frame_equal(frames[i], back[i]), "frame %zu", i);
        cr_assert(eq(int, r.truncated, size < whole_size), "size %zu", size);
        cr_assert(ge(sz, put, fewest), "a larger buffer holds no fewer frames");
        fewest = put;
    }
    cr_assert(eq(sz, fewest, count));
    guarded_free(&g);
}

Test(cbf_properties, every_buffer_holds_the_frames_that_fit)
{
    static const struct cbf_frame stack[] = {
        { SFB_FRAME_PC, 0x7fff12345678 },    { SFB_FRAME_RA, 0x7fff12340000 },
        { SFB_FRAME_RA, 0x555555554321 },    { SFB_FRAME_RA, 0x555555554321 },
        { SFB_FRAME_RA, 0x555555554321 },    { SFB_FRAME_OMIT, 1000 },
        { SFB_FRAME_ASYNC, 0x5555555543ff }, { SFB_FRAME_RA, UINT64_MAX },
        { SFB_FRAME_RA, INT64_MAX },         { SFB_FRAME_OMIT, 7 },
    };
    struct cbf_frame frames[60];
    uint64_t state = 3;

    expect_every_size(stack, sizeof stack / sizeof *stack, 64);
    for (int round = 0; round < 60; round++) {
        size_t count = random_frames(&state, frames, 60, words[round % 3]);

        expect_every_size(frames, count, words[round % 3]);
    }
}

Test(cbf_properties, no_prefix_is_read_beyond_its_end)
{
    static struct cbf_frame frames[60], back[60];
    static uint8_t buffer[1024];
    struct guarded g = guarded_new(sizeof buffer);
    uint64_t state = 4;

    for (int round = 0; round < 300; round++) {
        size_t count = random_frames(&state, frames, 60, words[round % 3]);
        size_t size = cbf_encode(buffer, sizeof buffer, words[round % 3], frames, count, true);

        for (size_t n = 0; n < size; n++) {
            struct cbf_reading r =
                cbf_decode(guarded_copy(&g, buffer, n), n, SFB_CBF_REQUIRE_END, back, 60);
            bool named = r.status == SFB_CBF_NO_END || r.status == SFB_CBF_TRUNCATED_OPERAND ||
                         (n == 0 && r.status == SFB_CBF_EMPTY);

            cr_assert(named, "status %d for %zu of %zu bytes", (int)r.status, n, size);
            cr_assert(eq(u64, r.error.offset, n));
            for (size_t i = 0; i < r.count; i++)
                cr_assert(cbf_frame_equal(frames[i], back[i]));
        }
    }
    guarded_free(&g);
}

Test(cbf_properties, no_damage_is_read_beyond_its_end)
{
    static struct cbf_frame frames[40], back[40];
    static uint8_t buffer[1024];
    struct guarded g = guarded_new(sizeof buffer);
    uint64_t state = 5;

    for (int round = 0; round < 20000; round++) {
        size_t count = random_frames(&state, frames, 40, words[round % 3]);
        size_t size = cbf_encode(buffer, sizeof buffer, words[round % 3], frames, count, false);
        struct cbf_reading r;

        for (uint64_t i = random_below(&state, 4) + 1; i > 0; i--)
            buffer[random_below(&state, size)] = (uint8_t)random_bits(&state);
        r = cbf_decode(guarded_copy(&g, buffer, size), size, (uint32_t)random_below(&state, 8),
                       back, 40);
        if (r.status != SFB_END)
            cr_assert(le(u64, r.error.offset, size));
        cr_assert(le(sz, r.consumed, size));
    }
    guarded_free(&g);
}
