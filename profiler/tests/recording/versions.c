/* Recordings: what is of a later version, and what is no recording. */
#include "sfb/recording.h"

#include <errno.h>
#include <stdlib.h>

#include "profiler/format/block.h"
#include "profiler/format/crc32c.h"
#include "profiler/format/format.h"
#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "support/test.h"

static const struct {
    const char *name;
    size_t at;
    uint8_t value;
} later[] = {
    { "a type of block", 4, 17 },
    { "a type above all", 4, 255 },
    { "a flag", 7, 0x80 },
};

Test(recording, passes_over_blocks_of_later_versions)
{
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        struct made made = made_all_kinds(NULL, 1);
        uint8_t *block = made.bytes + block_at(&made, 4);
        struct sfb_recording_reader *reader;
        struct sfb_recording_health health;

        block[later[i].at] = later[i].value;
        seal(block);
        reader = reader_of(made.bytes, made.size);
        read_all(reader);
        health = health_of(reader);
        cr_expect(eq(u64, health.unknown_blocks, 1), "%s", later[i].name);
        cr_expect(eq(u64, health.bad_blocks, 0), "%s", later[i].name);
        cr_expect(health.finished, "%s", later[i].name);
        sfb_recording_reader_close(reader);
        free(made.bytes);
    }
}

/* A later minor version: of the file, of a block, and a record that is not known. */
Test(recording, reads_later_minor_versions)
{
    struct made made = made_all_kinds(NULL, 1);
    uint8_t *block = made.bytes + block_at(&made, 1);
    struct sfb_recording_reader *reader;

    made.bytes[9] = 7;
    recording_put_le(made.bytes + RECORDING_HEADER_CRC,
                     sfb_crc32c(0, made.bytes, RECORDING_HEADER_CRC), 4);
    block[5] = 3;
    cr_assert(eq(int, block[RECORDING_BLOCK_HEADER_SIZE + 1], SFB_EVENT_PROCESS));
    block[RECORDING_BLOCK_HEADER_SIZE + 1] = 40;
    seal(block);
    reader = reader_of(made.bytes, made.size);
    /* All else names that process, or what does: only the start, a mark, two pauses, a loss and the end are left. */
    cr_expect(eq(sz, read_all(reader), 6));
    cr_expect(eq(u64, health_of(reader).unknown_records, 1));
    cr_expect(eq(u64, health_of(reader).bad_records, made_event_count - 7));
    cr_expect(eq(u64, health_of(reader).bad_blocks, 0));
    sfb_recording_reader_close(reader);
    free(made.bytes);
}

static const struct {
    const char *name;
    size_t at;
    uint8_t value;
    bool sealed;
    enum sfb_status want;
    uint64_t offset;
} headers[] = {
    { "magic", 2, 'x', false, SFB_BAD_MAGIC, 0 },
    { "line ends", 4, 'x', false, SFB_BAD_MAGIC, 0 },
    { "a later major version", 8, 2, true, SFB_BAD_VERSION, 8 },
    { "a header that is too small", 10, 15, true, SFB_BAD_HEADER, 10 },
    { "a header behind the end", 11, 0xff, true, SFB_TRUNCATED, 0 },
    { "a damaged version is damage", 8, 2, false, SFB_OK, 0 },
};

Test(recording, judges_the_header_of_the_file)
{
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct made made = made_all_kinds(NULL, 0);
        struct sfb_recording_reader *reader = NULL;
        struct sfb_error error = { 0 };

        made.bytes[headers[i].at] = headers[i].value;
        if (headers[i].sealed)
            recording_put_le(made.bytes + RECORDING_HEADER_CRC,
                             sfb_crc32c(0, made.bytes, RECORDING_HEADER_CRC), 4);
        cr_expect(eq(int, sfb_recording_reader_open_bytes(&reader, made.bytes, made.size, &error),
                     headers[i].want),
                  "%s", headers[i].name);
        if (headers[i].want == SFB_OK) {
            cr_expect(eq(sz, read_all(reader), made_event_count), "%s", headers[i].name);
            cr_expect(eq(u64, health_of(reader).skipped, 8));
        } else {
            cr_expect(eq(int, error.status, headers[i].want), "%s", headers[i].name);
            cr_expect(eq(u64, error.offset,
                         headers[i].want == SFB_TRUNCATED ? made.size : headers[i].offset),
                      "%s", headers[i].name);
            cr_expect_not_null(error.field);
        }
        sfb_recording_reader_close(reader);
        free(made.bytes);
    }
}

Test(recording, says_why_a_file_cannot_be_read)
{
    struct sfb_recording_reader *reader = NULL;

    cr_expect(eq(int, sfb_recording_reader_open(&reader, "/nonexistent", NULL), SFB_NO_RESOURCE));
    cr_expect(eq(int, errno, ENOENT));
    cr_expect(eq(int, sfb_recording_reader_open(&reader, "/", NULL), SFB_NO_RESOURCE));
    cr_expect(eq(int, errno, EISDIR));
    cr_expect(eq(int, sfb_recording_reader_open(&reader, "/dev/null", NULL), SFB_NO_RESOURCE));
    cr_expect(eq(int, errno, ESPIPE));
    cr_expect(eq(int, sfb_recording_reader_open_bytes(&reader, "", 0, NULL), SFB_TRUNCATED));
    cr_expect_null(reader);
}
