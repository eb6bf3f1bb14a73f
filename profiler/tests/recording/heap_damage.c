/* Recordings of heaps: what is damaged costs no more than what it hits. */
#include "sfb/recording.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/format/format.h"
#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "support/guarded.h"
#include "support/test.h"

/* Whatever is read, each site that an event or a sum names was introduced before. */
static size_t read_checked(const uint8_t *bytes, size_t size)
{
    struct sfb_recording_reader *reader = reader_of(bytes, size);
    struct sfb_recording_event event;
    bool site[64] = { false }, process[64] = { false };
    enum sfb_status status;
    size_t given = 0;

    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK) {
        given++;
        if (event.kind == SFB_EVENT_PROCESS && event.of.process.id < 64)
            process[event.of.process.id] = true;
        if (event.kind == SFB_EVENT_HEAP_SITE && event.of.heap_site.id < 64)
            site[event.of.heap_site.id] = true;
        if (event.kind == SFB_EVENT_HEAP_EVENT) {
            cr_assert(event.of.heap_event.site >= 64 || site[event.of.heap_event.site]);
            cr_assert(event.of.heap_event.process >= 64 || process[event.of.heap_event.process]);
        }
        if (event.kind == SFB_EVENT_HEAP_TOTALS && event.of.heap_totals.site < 64)
            cr_assert(site[event.of.heap_totals.site]);
    }
    cr_assert(eq(int, status, SFB_END));
    cr_assert(eq(u64, health_of(reader).skipped, 0));
    sfb_recording_reader_close(reader);
    return given;
}

Test(recording_heap, survives_each_byte_that_has_the_right_sum)
{
    const struct sfb_recording_packer *const all[] = { NULL, &made_unpacked };

    for (size_t p = 0; p < 2; p++) {
        struct made made = made_heap(all[p]);
        struct guarded guarded = guarded_new(made.size);
        uint8_t *bytes = guarded_copy(&guarded, made.bytes, made.size);

        for (unsigned number = 1; number <= 4; number++) {
            const size_t block = block_at(&made, number);
            const size_t end = block_at(&made, number + 1);

            for (size_t i = block + RECORDING_BLOCK_HEADER_SIZE; i < end; i++) {
                for (unsigned change = 1; change < 256; change = 3 * change + 1) {
                    bytes[i] = (uint8_t)(made.bytes[i] ^ change);
                    seal(bytes + block);
                    read_checked(bytes, made.size);
                }
                bytes[i] = made.bytes[i];
                seal(bytes + block);
            }
        }
        guarded_free(&guarded);
        free(made.bytes);
    }
}

Test(recording_heap, survives_each_prefix)
{
    struct made made = made_heap(&sfb_recording_zstd);
    struct guarded guarded = guarded_new(made.size);
    size_t before = 0;

    for (size_t size = RECORDING_HEADER_SIZE; size <= made.size; size++) {
        const size_t given = read_checked(guarded_copy(&guarded, made.bytes, size), size);

        cr_assert(le(sz, before, given), "%zu", size);
        before = given;
    }
    cr_expect(eq(sz, before, made_event_count));
    guarded_free(&guarded);
    free(made.bytes);
}

/* @return events of the heap that are read without a block; health says what is wrong */
static size_t read_without(unsigned number, struct sfb_recording_health *health)
{
    struct made made = made_heap(&sfb_recording_zstd);
    const size_t at = block_at(&made, number), next = block_at(&made, number + 1);
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    size_t events = 0;

    memmove(made.bytes + at, made.bytes + next, made.size - next);
    reader = reader_of(made.bytes, made.size - (next - at));
    while (sfb_recording_reader_next(reader, &event) == SFB_OK)
        events += event.kind == SFB_EVENT_HEAP_EVENT;
    *health = health_of(reader);
    sfb_recording_reader_close(reader);
    free(made.bytes);
    return events;
}

/* A block of events needs no other one; that of the sites is needed by all. */
Test(recording_heap, loses_no_more_than_a_block)
{
    struct sfb_recording_health health;

    cr_expect(eq(sz, read_without(2, &health), 2));
    cr_expect(eq(u64, health.lost_records, 6));
    cr_expect(eq(u64, health.bad_records + health.bad_blocks, 0));
    cr_expect(eq(sz, read_without(3, &health), 6));
    cr_expect(eq(u64, health.lost_records, 2));
    cr_expect(eq(sz, read_without(1, &health), 0));
    cr_expect(eq(u64, health.bad_records, 8 + 3));
}

static const struct {
    const char *name;
    uint8_t payload[16];
    size_t size, given;
    bool whole;
} blocks[] = {
    { "a pair", { 1, 4, 1, 0, 1, 1, 1, 1, 9 }, 9, 1, true },
    { "a pair that is freed", { 1, 4, 1, 0, 1, 1, 2, 1, 9 }, 9, 1, true },
    { "the same pair again", { 1, 4, 2, 0, 1, 1, 1, 4, 1, 9 }, 10, 2, true },
    { "a pair that has not come", { 1, 4, 2, 0, 1, 1, 1, 5, 1, 9 }, 10, 1, false },
    { "no site", { 1, 4, 1, 0, 0, 1, 1, 9 }, 8, 0, false },
    { "no size", { 1, 4, 1, 0, 1, 0, 1, 1 }, 8, 0, false },
    { "a site below 0", { 1, 4, 1, 0, 1, 1, 1, 0x7f, 9 }, 9, 0, false },
    { "site 0", { 1, 4, 1, 0, 1, 1, 1, 0, 9 }, 9, 0, false },
    { "a site that was not introduced", { 1, 4, 1, 0, 1, 1, 1, 3, 9 }, 9, 0, false },
    { "a process that was not", { 3, 4, 1, 0, 1, 1, 1, 1, 9 }, 9, 0, false },
    { "a mark without a time", { 1, 4, 1, 0, 1, 1, 0, 1, 9 }, 9, 0, false },
    { "a mark alone", { 1, 4, 1, 1, 0, 0, 0, 5 }, 8, 0, true },
    { "half a symbol", { 1, 4, 2, 0, 1, 1, 1, 0x80, 1, 9 }, 10, 1, false },
    { "too few columns", { 1, 3, 1, 0, 1, 1, 1, 9 }, 8, 0, false },
    { "a column more", { 1, 5, 1, 0, 1, 1, 2, 1, 1, 9, 0, 0 }, 12, 1, true },
    { "a column that is too long", { 1, 4, 1, 0, 1, 2, 1, 1, 9 }, 9, 0, false },
    { "nothing", { 0 }, 0, 0, false },
};

/* A block of the heap that somebody wrote, behind a process, a thread and site 1. */
Test(recording_heap, judges_each_block)
{
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct made made = made_heap(NULL);
        const size_t at = block_at(&made, 2), size = at + RECORDING_BLOCK_HEADER_SIZE;
        struct sfb_recording_reader *reader;
        struct sfb_recording_health health;
        struct sfb_recording_event event;
        struct sfb_block block;
        size_t given = 0;

        cr_assert(sfb_block_read(&block, made.bytes + at));
        cr_assert(made.size >= size + sizeof blocks[i].payload);
        memcpy(made.bytes + size, blocks[i].payload, blocks[i].size);
        block.stored = block.unpacked = (uint32_t)blocks[i].size;
        block.records = blocks[i].whole ? (uint32_t)blocks[i].given : 9;
        block.crc = sfb_crc32c(0, made.bytes + size, blocks[i].size);
        sfb_block_write(made.bytes + at, &block);
        reader = reader_of(made.bytes, size + blocks[i].size);
        while (sfb_recording_reader_next(reader, &event) == SFB_OK)
            given += event.kind == SFB_EVENT_HEAP_EVENT;
        health = health_of(reader);
        cr_expect(eq(sz, given, blocks[i].given), "%s", blocks[i].name);
        cr_expect(eq(int, health.bad_blocks + health.bad_records + health.lost_records == 0,
                     blocks[i].whole),
                  "%s", blocks[i].name);
        sfb_recording_reader_close(reader);
        free(made.bytes);
    }
}
