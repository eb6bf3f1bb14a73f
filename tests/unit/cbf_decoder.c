/* What the decoder gives for each instruction, and what it says about wrong ones. */
#include "sfb/cbf.h"
#include "support/cbf_frames.h"
#include "support/test.h"

#define PC    SFB_FRAME_PC
#define RA    SFB_FRAME_RA
#define ASYNC SFB_FRAME_ASYNC
#define OMIT  SFB_FRAME_OMIT

static struct sfb_cbf_decoder_options with(uint32_t flags, uint64_t max_frames)
{
    return (struct sfb_cbf_decoder_options){ sizeof(struct sfb_cbf_decoder_options), flags,
                                             max_frames };
}

static struct sfb_cbf_decoder started(const uint8_t *data, size_t size, uint32_t flags)
{
    struct sfb_cbf_decoder_options options = with(flags, 0);
    struct sfb_cbf_decoder d;

    cr_assert(eq(int, sfb_cbf_decoder_init(&d, data, size, &options, NULL), SFB_OK));
    return d;
}

Test(cbf_decoder, judges_its_arguments)
{
    static const uint8_t good[] = { 0x02, 0x00 };
    struct sfb_cbf_decoder_options options;
    struct sfb_cbf_decoder d;
    struct sfb_error error;

    cr_expect(eq(int, sfb_cbf_decoder_init(NULL, good, 2, NULL, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_cbf_decoder_init(&d, NULL, 2, NULL, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_cbf_decoder_init(&d, NULL, 0, NULL, NULL), SFB_CBF_EMPTY));
    options = with(0x10, 0);
    cr_expect(eq(int, sfb_cbf_decoder_init(&d, good, 2, &options, NULL), SFB_BAD_ARGUMENT));
    options = with(0, 0);
    options.size = 0;
    cr_expect(eq(int, sfb_cbf_decoder_init(&d, good, 2, &options, &error), SFB_NO_SIZE));
    cr_expect(eq(int, error.status, SFB_NO_SIZE));
    cr_expect(eq(int, strcmp(error.field, "options"), 0));
}

Test(cbf_decoder, tells_the_word_size)
{
    for (uint8_t code = 0; code < 3; code++) {
        uint8_t data[] = { code, 0x00 };
        struct sfb_cbf_decoder d = started(data, sizeof data, 0);

        cr_expect(eq(uint, sfb_cbf_decoder_word_bits(&d), 16u << code));
    }
}

Test(cbf_decoder, describes_each_instruction)
{
    static const struct sfb_cbf_item want[] = {
        { PC, 0x1000, 1, false, false, 1, 3 },   { RA, 0x1010, 1, false, true, 4, 2 },
        { RA, 0x1010, 3, true, false, 6, 1 },    { RA, 0x1010, 300, true, false, 7, 3 },
        { ASYNC, 0xf90, 1, false, true, 10, 2 }, { OMIT, 5, 1, false, false, 12, 1 },
        { OMIT, 5, 2, true, false, 13, 1 },      { OMIT, 0x03e8, 1, false, false, 14, 3 },
        { PC, 0xf91, 1, false, true, 17, 2 },
    };
    static const uint8_t data[] = { 0x02, 0x19, 0x10, 0x00, 0x20, 0x10, 0x82, 0x89, 0x01, 0x2c,
                                    0x30, 0x80, 0x44, 0x81, 0x61, 0x03, 0xe8, 0x10, 0x01, 0x01 };
    struct sfb_cbf_decoder d = started(data, sizeof data, 0);

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct sfb_cbf_item got;

        cr_expect(eq(sz, sfb_cbf_decoder_consumed(&d), want[i].offset));
        cr_assert(eq(int, sfb_cbf_decoder_next(&d, &got, NULL), SFB_OK));
        cr_expect(eq(int, got.kind, want[i].kind), "item %zu", i);
        cr_expect(eq(u64, got.value, want[i].value), "item %zu", i);
        cr_expect(eq(u64, got.count, want[i].count), "item %zu", i);
        cr_expect(eq(int, got.repeat, want[i].repeat), "item %zu", i);
        cr_expect(eq(int, got.relative, want[i].relative), "item %zu", i);
        cr_expect(eq(sz, got.offset, want[i].offset), "item %zu", i);
        cr_expect(eq(sz, got.size, want[i].size), "item %zu", i);
    }
    for (int again = 0; again < 2; again++) {
        struct sfb_cbf_item untouched = { .value = 77 };

        cr_expect(eq(int, sfb_cbf_decoder_next(&d, &untouched, NULL), SFB_END));
        cr_expect(eq(u64, untouched.value, 77));
        cr_expect(sfb_cbf_decoder_truncated(&d));
        cr_expect(eq(sz, sfb_cbf_decoder_consumed(&d), sizeof data));
    }
}

static const struct {
    const char *name, *hex;
    uint32_t flags;
    uint64_t max_frames;
    enum sfb_status want;
    const char *field;
    uint64_t offset;
} faults[] = {
    { "no bytes", "", 0, 0, SFB_CBF_EMPTY, "info byte", 0 },
    { "version", "0600", 0, 0, SFB_CBF_VERSION, "info byte", 0 },
    { "version before size", "0700", 0, 0, SFB_CBF_VERSION, "info byte", 0 },
    { "size", "0300", 0, 0, SFB_CBF_SIZE, "info byte", 0 },
    { "opcode", "0218050f", 0, 0, SFB_CBF_RESERVED_OPCODE, "opcode", 3 },
    { "pc cut", "021910", 0, 0, SFB_CBF_TRUNCATED_OPERAND, "pc operand", 3 },
    { "ra cut", "0228", 0, 0, SFB_CBF_TRUNCATED_OPERAND, "ra operand", 2 },
    { "async cut", "023f01", 0, 0, SFB_CBF_TRUNCATED_OPERAND, "async operand", 3 },
    { "omit cut before too wide", "027f01", 0, 0, SFB_CBF_TRUNCATED_OPERAND, "omit operand", 3 },
    { "rep cut before first", "0288", 0, 0, SFB_CBF_TRUNCATED_OPERAND, "rep operand", 2 },
    { "pc wide before relative", "0012010203", 0, 0, SFB_CBF_TOO_WIDE, "pc operand", 1 },
    { "rep wide before first", "008a010203", 0, 0, SFB_CBF_TOO_WIDE, "rep operand", 1 },
    { "omit wide", "0062010203", 0, 0, SFB_CBF_TOO_WIDE, "omit operand", 1 },
    { "relative", "02442005", 0, 0, SFB_CBF_RELATIVE_FIRST, "opcode", 2 },
    { "omit 0", "02610000", 0, 0, SFB_CBF_OMIT_ZERO, "omit operand", 1 },
    { "rep first, of 0", "028800", 0, 0, SFB_CBF_REP_FIRST, "opcode", 1 },
    { "rep 0", "0218058800", 0, 0, SFB_CBF_REP_ZERO, "rep operand", 3 },
    { "rep limit", "0218058a100001", 0, 0, SFB_CBF_REP_LIMIT, "rep operand", 3 },
    { "rep huge", "0218058fffffffffffffffff", 0, 0, SFB_CBF_REP_LIMIT, "rep operand", 3 },
    { "rep limit before frames", "0218058a100001", 0, 5, SFB_CBF_REP_LIMIT, "rep operand", 3 },
    { "frames", "021805200120018000", 0, 3, SFB_CBF_FRAME_LIMIT, "opcode", 7 },
    { "frames by a rep", "0218058300", 0, 4, SFB_CBF_FRAME_LIMIT, "opcode", 3 },
    { "frames by a rep, expanded", "0218058300", SFB_CBF_EXPAND, 4, SFB_CBF_FRAME_LIMIT, "opcode",
      3 },
    { "frames by an omit", "021805440000", 0, 1, SFB_CBF_FRAME_LIMIT, "opcode", 3 },
    { "no end", "021805", SFB_CBF_REQUIRE_END, 0, SFB_CBF_NO_END, "terminator", 3 },
    { "no end, nothing", "02", SFB_CBF_REQUIRE_END, 0, SFB_CBF_NO_END, "terminator", 1 },
    { "trailing", "0218050000", 0, 0, SFB_CBF_TRAILING_DATA, "trailing data", 4 },
};

Test(cbf_decoder, names_each_fault_every_time_it_is_asked)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct sfb_cbf_decoder_options options = with(faults[i].flags, faults[i].max_frames);
        uint8_t data[32];
        size_t size = cbf_bytes(data, sizeof data, faults[i].hex);
        struct sfb_cbf_decoder d = { .offset = 0 };
        struct sfb_cbf_item item;
        enum sfb_status status = SFB_OK;

        for (int again = 0; again < 2; again++) {
            struct sfb_error error = { SFB_OK, "", 99 };

            if (d.offset == 0)
                status = sfb_cbf_decoder_init(&d, data, size, &options, &error);
            if (d.offset != 0)
                while ((status = sfb_cbf_decoder_next(&d, &item, &error)) == SFB_OK)
                    ;
            cr_expect(eq(int, status, faults[i].want), "%s", faults[i].name);
            cr_expect(eq(int, error.status, faults[i].want), "%s", faults[i].name);
            cr_expect(eq(u64, error.offset, faults[i].offset), "%s", faults[i].name);
            cr_expect(eq(int, strcmp(error.field, faults[i].field), 0), "%s: %s", faults[i].name,
                      error.field);
        }
        if (d.offset != 0)
            cr_expect(eq(int, sfb_cbf_decoder_next(&d, &item, NULL), faults[i].want));
    }
}

Test(cbf_decoder, refuses_every_reserved_opcode)
{
    for (unsigned opcode = 0x02; opcode <= 0xff; opcode++) {
        uint8_t data[] = { 0x02, (uint8_t)opcode };
        struct sfb_cbf_decoder d = started(data, sizeof data, 0);
        struct sfb_cbf_item item;
        bool refused = sfb_cbf_decoder_next(&d, &item, NULL) == SFB_CBF_RESERVED_OPCODE;

        cr_expect(eq(int, refused, opcode < 0x10 || opcode >= 0x90), "opcode %#x", opcode);
    }
}

Test(cbf_decoder, refuses_operands_wider_than_the_word)
{
    static const uint8_t longs[] = { 0x18, 0x28, 0x38, 0x60, 0x88 };

    for (uint8_t code = 0; code < 3; code++) {
        for (size_t i = 0; i < sizeof longs; i++) {
            for (size_t size = 1; size <= 8; size++) {
                uint8_t data[13] = { code, 0x18, 0x01, (uint8_t)(longs[i] + size - 1) };
                struct sfb_cbf_decoder d;
                struct sfb_cbf_item item;

                data[3 + size] = 1;
                d = started(data, 4 + size, 0);
                sfb_cbf_decoder_next(&d, &item, NULL);
                cr_expect(eq(int, sfb_cbf_decoder_next(&d, &item, NULL),
                             size <= 2u << code ? SFB_OK : SFB_CBF_TOO_WIDE));
            }
        }
    }
}

Test(cbf_decoder, expands_repeats_when_asked)
{
    static const uint8_t data[] = { 0x02, 0x28, 0x05, 0x88, 0x03, 0x81, 0x00 };
    struct sfb_cbf_decoder d = started(data, sizeof data, SFB_CBF_EXPAND);

    for (size_t i = 0; i < 6; i++) {
        struct sfb_cbf_item got;

        cr_assert(eq(int, sfb_cbf_decoder_next(&d, &got, NULL), SFB_OK));
        cr_expect(eq(u64, got.value, 5));
        cr_expect(eq(u64, got.count, 1));
        cr_expect(eq(int, got.repeat, i > 0));
        cr_expect(eq(sz, got.offset, i == 0 ? 1 : i < 4 ? 3 : 5));
        cr_expect(eq(sz, got.size, i < 4 ? 2 : 1));
    }
    cr_expect(
        eq(int, sfb_cbf_decoder_next(&d, &(struct sfb_cbf_item){ .count = 0 }, NULL), SFB_END));
}

Test(cbf_decoder, reads_backtraces_back_to_back)
{
    static const uint8_t data[] = {
        0x02, 0x18, 0x05, 0x01, 0x00, 0x19, 0x12, 0x34, 0x00, 0x02, 0x00
    };
    static const struct {
        size_t size, frames;
        bool truncated;
        unsigned word_bits;
    } want[] = { { 4, 1, true, 64 }, { 5, 1, false, 16 }, { 2, 0, false, 64 } };
    size_t at = 0;

    for (size_t i = 0; i < 3; i++) {
        struct sfb_cbf_decoder d = started(data + at, sizeof data - at, SFB_CBF_STREAM);
        struct sfb_cbf_item item;
        size_t frames = 0;

        cr_expect(eq(uint, sfb_cbf_decoder_word_bits(&d), want[i].word_bits));
        while (sfb_cbf_decoder_next(&d, &item, NULL) == SFB_OK)
            frames++;
        cr_expect(eq(int, sfb_cbf_decoder_next(&d, &item, NULL), SFB_END));
        cr_expect(eq(sz, frames, want[i].frames));
        cr_expect(eq(int, sfb_cbf_decoder_truncated(&d), want[i].truncated));
        cr_assert(eq(sz, sfb_cbf_decoder_consumed(&d), want[i].size));
        at += want[i].size;
    }
    cr_expect(eq(sz, at, sizeof data));
}

Test(cbf_decoder, accepts_data_without_a_terminator)
{
    static const uint8_t data[] = { 0x02, 0x18, 0x05 };
    struct cbf_frame frame;
    struct cbf_reading r = cbf_decode(data, sizeof data, 0, &frame, 1);

    cr_expect(eq(int, r.status, SFB_END));
    cr_expect(eq(sz, r.count, 1));
    cr_expect(not(r.truncated));
    cr_expect(eq(sz, r.consumed, 3));
}

Test(cbf_decoder, reads_as_many_frames_as_allowed)
{
    static const uint8_t data[] = { 0x02, 0x18, 0x05, 0x82, 0x44, 0x00 };
    struct sfb_cbf_decoder_options options = with(0, 5);
    struct sfb_cbf_decoder d;
    struct sfb_cbf_item item;

    sfb_cbf_decoder_init(&d, data, sizeof data, &options, NULL);
    for (int i = 0; i < 3; i++)
        cr_expect(eq(int, sfb_cbf_decoder_next(&d, &item, NULL), SFB_OK));
    cr_expect(eq(int, sfb_cbf_decoder_next(&d, &item, NULL), SFB_END));
}
