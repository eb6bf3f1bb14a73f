/*
 * Notes in blocks of one's own allocator, and the lines that are made of them: sframe_backtrace_alloc.h. What another
 * encoder of libwebsockets' lines wrote stands in tool_lws.c.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sframe_backtrace_alloc.h"
#include "support/compiler.h"
#include "support/test.h"

/* A block from an allocator, and its code. */
NOINLINE static size_t get(uint8_t *block, size_t size, size_t requested)
{
    const size_t note = sframe_backtrace_alloc_put(block, size, requested, NULL);

    __asm__ volatile("" ::: "memory");
    return note;
}

static bool is_in(uint64_t address, size_t (*function)(uint8_t *, size_t, size_t))
{
    const uint64_t start = (uint64_t)(uintptr_t)function;

    return address > start && address - start < 0x1000;
}

/* Decodes the note's backtrace. @return its frames */
static size_t frames_of(const struct sframe_backtrace_alloc_note *note, uint64_t *first)
{
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    size_t count = 0;

    cr_assert(eq(int, sfb_cbf_decoder_init(&decoder, note->cbf, note->cbf_size, NULL, NULL), 0));
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK) {
        if (count == 0)
            *first = item.value;
        count += item.count;
    }
    cr_assert(eq(sz, sfb_cbf_decoder_consumed(&decoder), note->cbf_size));
    return count;
}

Test(alloc, finds_each_note_from_the_end_of_its_block)
{
    for (size_t room = SFRAME_BACKTRACE_ALLOC_NOTE_MIN; room < 300; room++)
        for (size_t requested = 0; requested < 100000; requested = 3 * requested + 1) {
            struct sframe_backtrace_alloc_note note;
            const size_t size = requested + room;
            uint8_t *block = malloc(size);
            uint64_t first = 0;
            size_t written;

            memset(block, 0xee, size);
            written = get(block, size, requested);
            cr_assert(le(sz, written, room));
            cr_assert(le(sz, written, SFRAME_BACKTRACE_ALLOC_NOTE_MAX));
            for (size_t i = 0; i < size - written; i++)
                cr_assert(eq(u8, block[i], 0xee), "byte %zu of %zu", i, size);
            cr_assert(eq(int, sframe_backtrace_alloc_find(&note, block, size), SFB_OK));
            cr_assert(eq(sz, note.requested, requested));
            cr_assert(eq(sz, note.size, written));
            if (frames_of(&note, &first) > 0)
                cr_assert(is_in(first, get), "0x%llx", (unsigned long long)first);
            else
                cr_assert(lt(sz, room, 32));
            free(block);
        }
}

Test(alloc, keeps_the_notes_of_deep_stacks_within_their_limit)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_alloc_note note;
    uint8_t made[1000];
    size_t size;

    options.skip = 1000; /* none is left */
    size = sframe_backtrace_alloc_make(made, sizeof made, SIZE_MAX / 2, &options);
    cr_assert(le(sz, size, SFRAME_BACKTRACE_ALLOC_NOTE_MIN));
    options.flags = 0x8000; /* refused */
    size = sframe_backtrace_alloc_make(made, sizeof made, 3, &options);
    cr_assert(eq(sz, size, 6));
    cr_assert(
        eq(int, sframe_backtrace_alloc_find(&note, made, size), SFB_BAD_HEADER)); /* no 3 bytes */
    memmove(made + 3, made, size);
    cr_assert(eq(int, sframe_backtrace_alloc_find(&note, made, 3 + size), SFB_OK));
    cr_assert(eq(sz, note.cbf_size, 2));
}

Test(alloc, writes_nothing_where_there_is_no_room)
{
    uint8_t block[64], note[SFRAME_BACKTRACE_ALLOC_NOTE_MIN - 1];

    memset(block, 0xee, sizeof block);
    cr_expect(eq(sz, get(block, sizeof block, 49), 0));
    cr_expect(eq(sz, get(block, sizeof block, 64), 0));
    cr_expect(eq(sz, get(block, sizeof block, SIZE_MAX), 0));
    cr_expect(eq(sz, sframe_backtrace_alloc_make(note, sizeof note, 1, NULL), 0));
    cr_expect(not(sframe_backtrace_alloc_place(block, 20, block + 40, 21)));
    cr_expect(not(sframe_backtrace_alloc_place(block, 20, block + 40, 0)));
    for (size_t i = 0; i < sizeof block; i++)
        cr_assert(eq(u8, block[i], 0xee));
    cr_expect(eq(sz, sframe_backtrace_alloc_size(SIZE_MAX - 5, 6), 0));
    cr_expect(eq(sz, sframe_backtrace_alloc_size(SIZE_MAX - 6, 6), SIZE_MAX));
}

/* A user that writes too far changes at least a byte. Another size has another check: one of 256 fits by chance, how many
 * of them depends on the addresses in the note. */
Test(alloc, tells_a_note_with_another_byte)
{
    uint8_t block[200];
    struct sframe_backtrace_alloc_note note;
    size_t size, told = 0, changes = 0;

    memset(block, 0xee, sizeof block);
    size = get(block, sizeof block, 30);
    for (size_t i = sizeof block - size; i < sizeof block; i++)
        for (unsigned value = 1; value < 256; value++, changes++) {
            enum sfb_status status;

            block[i] = (uint8_t)(block[i] ^ value);
            status = sframe_backtrace_alloc_find(&note, block, sizeof block);
            block[i] = (uint8_t)(block[i] ^ value);
            told += status == SFB_TRUNCATED || status == SFB_BAD_HEADER;
            cr_expect(status != SFB_OK || i >= sizeof block - 2, "byte %zu", sizeof block - i);
        }
    cr_expect(ge(sz, told + 32, changes), "%zu of %zu", told, changes);
    cr_expect(eq(int, sframe_backtrace_alloc_find(NULL, block, sizeof block), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sframe_backtrace_alloc_find(&note, NULL, sizeof block), SFB_BAD_ARGUMENT));
}

/* Whatever a block has, what is found lies in it. Before it and behind it is nothing. */
Test(alloc, believes_no_byte_of_a_block)
{
    char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
    size_t found = 0;

    srandom(7);
    for (unsigned k = 0; k < 200000; k++) {
        const size_t size = (size_t)random() % 40;
        uint8_t *block = malloc(size ? size : 1); /* a sanitizer guards it */
        struct sframe_backtrace_alloc_note note;

        for (size_t i = 0; i < size; i++)
            block[i] = (uint8_t)random();
        if (size >= 6 && k % 2) { /* what is needed to get further */
            const size_t said = 6 + (size_t)random() % (size - 5);

            block[size - 2] = 0;
            block[size - 1] = (uint8_t)said;
            block[size - said] &= 0x8f;
            block[size - 3] = sfb_alloc_sum(block + size - said, said - 3);
        }
        if (sframe_backtrace_alloc_find(&note, block, size) == SFB_OK) {
            cr_assert(note.cbf >= block && note.cbf + note.cbf_size + 3 == block + size);
            cr_assert(le(sz, note.requested + note.size, size));
            sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY);
            found++;
        }
        free(block);
    }
    cr_expect(lt(sz, 100, found), "only %zu were found: the test tries too little", found);
}

/* The longest number, in a block that cannot have it. */
Test(alloc, refuses_sizes_that_are_no_size)
{
    static const uint8_t numbers[][11] = {
        { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x02 },
        { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x02 },
        { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02 },
        { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0x02 },
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sframe_backtrace_alloc_note note;
        uint8_t block[15];

        memcpy(block, numbers[i], 11);
        block[11] = 0;
        block[12] = sfb_alloc_sum(block, 12);
        block[13] = 0;
        block[14] = 15;
        cr_expect(eq(int, sframe_backtrace_alloc_find(&note, block, sizeof block), SFB_BAD_HEADER),
                  "%zu", i);
    }
}

/* The example of docs/FORMATS.md. */
Test(alloc, reads_the_example_of_the_format)
{
    static const uint8_t example[] = { 0x28, 0x02, 0x2a, 0x40, 0x29, 0xef, 0x21,
                                       0x00, 0xb1, 0x00, 0x7e, 0x00, 0x0d };
    struct sframe_backtrace_alloc_note note;
    uint8_t block[40 + sizeof example];
    uint64_t first = 0;

    memset(block, 0, 40);
    memcpy(block + 40, example, sizeof example);
    cr_assert(eq(int, sframe_backtrace_alloc_find(&note, block, sizeof block), SFB_OK));
    cr_expect(eq(sz, note.requested, 40));
    cr_expect(eq(sz, frames_of(&note, &first), 2));
    cr_expect(eq(u64, first, 0x4029ef));
}

/* --- Lines -------------------------------------------------------------------------------------- */

/* A note with these return addresses. */
static struct sframe_backtrace_alloc_note note_of(uint8_t *cbf, size_t room, const uint64_t *frames,
                                                  size_t count, size_t requested)
{
    struct sframe_backtrace_alloc_note note = { .cbf = cbf, .requested = requested };
    struct sfb_cbf_encoder encoder;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, room, 64), SFB_OK));
    for (size_t i = 0; i < count; i++)
        cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, frames[i]), SFB_OK));
    note.cbf_size = sfb_cbf_encoder_end(&encoder, false);
    return note;
}

/* Made by another program from the texts that describe the two formats; the first one by libwebsockets, too. */
static const struct {
    uint64_t frames[4];
    size_t depth, requested;
    const char *library, *readme;
} lines[] = {
    { { 0x406651, 0x406852, 0x406c1b, 0x406294 },
      4,
      7520,
      "~m#IF0BmUUAUgFAFPJSRTvRrrAAABQ=",
      "~m#IXgMyjAqAYFeTUrvTesAABE=" },
    { { 0x55d0c0a81234, 0x55d0c0a81250, 0x7f4cf92d624a, 0x55d0c0a80100 },
      4,
      100,
      "~m#IL1XQwKgSNEAK4L39M+S1iSkkaiaB2QAABo=",
      "~m#Ivq6GBUCRpAXi/+mfJaxJVTYmg+QABc=" },
    { { 0 }, 0, 0, "~m#ABAABA==", "~m#ACAABA==" },
    { { 0x401000, 0x401000, 0x401000 }, 3, 1, "~m#GF0AQAEECIoEAoAADQ==", "~m#GXgCABEFMEDAAAs=" },
};

Test(alloc, writes_the_lines_of_libwebsockets)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        uint8_t cbf[100];
        char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
        const struct sframe_backtrace_alloc_note note =
            note_of(cbf, sizeof cbf, lines[i].frames, lines[i].depth, lines[i].requested);
        const size_t size = strlen(lines[i].library);

        cr_expect(eq(
            sz,
            sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY),
            size));
        cr_expect(eq(str, line, (char *)(uintptr_t)lines[i].library));
        cr_expect(eq(
            sz, sframe_backtrace_alloc_line(line, size + 1, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY),
            size));
        cr_expect(eq(
            sz, sframe_backtrace_alloc_line(line, size, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY), 0));
        sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_README);
        cr_expect(eq(str, line, (char *)(uintptr_t)lines[i].readme));
    }
}

/* 31 addresses of 63 bits, each far from all others, and the largest size: the longest line. */
Test(alloc, has_room_for_the_longest_line)
{
    uint8_t cbf[400];
    uint64_t frames[40], state = 1;
    char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
    struct sframe_backtrace_alloc_note note;

    for (size_t i = 0; i < 40; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        frames[i] =
            (i % 2 ? 0x7fffffffffffffff : 0x4000000000000000) ^ (state >> 3 & 0xffffffffffff000);
    }
    note = note_of(cbf, sizeof cbf, frames, 40, INT64_MAX);
    cr_expect(
        lt(sz, 380,
           sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY)));
    cr_expect(eq(u8, (uint8_t)line[3] >> 0, (uint8_t)'+')); /* 11111 0: 31 of them */
}

Test(alloc, leaves_out_what_a_line_cannot_say)
{
    uint8_t cbf[100];
    char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
    struct sfb_cbf_encoder encoder;
    struct sframe_backtrace_alloc_note note = { .cbf = cbf };

    sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64);
    for (unsigned i = 0; i < 3; i++) {
        sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, 0x401000);
        if (i == 1)
            sfb_cbf_encoder_put(&encoder, SFB_FRAME_OMIT, 5);
    }
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, UINT64_MAX);
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, 0x401000);
    note.cbf_size = sfb_cbf_encoder_end(&encoder, true);
    note.requested = 1;
    sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY);
    cr_expect(eq(str, line, (char *)(uintptr_t)lines[3].library));
    cbf[1] = 0xff; /* no opcode */
    cr_expect(eq(
        sz, sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY),
        0));
    note.cbf_size = 0;
    cr_expect(eq(
        sz, sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY),
        0));
}
