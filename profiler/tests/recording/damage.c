/* Recordings: what is damaged costs no more than what it hits. */
#include "sfb/recording.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/format/format.h"
#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "support/guarded.h"
#include "support/test.h"

/* Whatever is read, each id that an event names was introduced before. */
static void check_ids(const struct sfb_recording_event *event, bool process[3], bool thread[3])
{
    switch (event->kind) {
    case SFB_EVENT_PROCESS:
        cr_assert(le(u32, event->of.process.id, 2));
        process[event->of.process.id] = true;
        break;
    case SFB_EVENT_THREAD:
        cr_assert(process[event->of.thread.process]);
        thread[event->of.thread.id] = true;
        break;
    case SFB_EVENT_SAMPLE: cr_assert(thread[event->of.sample.thread]); break;
    case SFB_EVENT_STACK: cr_assert(process[event->of.stack.process]); break;
    default: break;
    }
}

static void read_damaged(const uint8_t *bytes, size_t size)
{
    bool process[3] = { false }, thread[3] = { false };
    struct sfb_recording_reader *reader = NULL;
    struct sfb_recording_event event;
    enum sfb_status status = sfb_recording_reader_open_bytes(&reader, bytes, size, NULL);

    if (status != SFB_OK) {
        cr_assert(status == SFB_BAD_MAGIC || status == SFB_TRUNCATED);
        return;
    }
    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK)
        check_ids(&event, process, thread);
    cr_assert(eq(int, status, SFB_END));
    sfb_recording_reader_close(reader);
}

/* A byte that is wrong is found, wherever it lies, and costs no more than its block. */
Test(recording, survives_each_byte)
{
    for (size_t p = 0; p < 2; p++) {
        struct made made = made_all_kinds(packer_of(p), 1);
        struct guarded guarded = guarded_new(made.size);
        uint8_t *bytes = guarded_copy(&guarded, made.bytes, made.size);
        const size_t whole = made_event_count, last = block_at(&made, 6);

        for (size_t i = 0; i < made.size; i++) {
            static const uint8_t changes[] = { 0xff, 0x01 };

            for (size_t c = 0; c < sizeof changes; c++) {
                bytes[i] ^= changes[c];
                read_damaged(bytes, made.size);
                if (i >= RECORDING_MAGIC_SIZE) {
                    struct sfb_recording_reader *reader = reader_of(bytes, made.size);
                    const size_t given = read_all(reader);
                    const struct sfb_recording_health health = health_of(reader);

                    cr_assert(not(is_whole(&health)), "byte %zu", i);
                    /* What the last block had is told by the header that may be what is damaged. */
                    cr_assert(given + health.lost_records + health.bad_records == whole ||
                                  (i >= last && given == whole - 1),
                              "byte %zu: %zu given", i, given);
                    sfb_recording_reader_close(reader);
                }
                bytes[i] ^= changes[c];
            }
        }
        guarded_free(&guarded);
        free(made.bytes);
    }
}

/* What lies behind the sums is judged, too: with sums that are right, no change leads out of what is there. */
Test(recording, survives_each_byte_that_has_the_right_sum)
{
    const struct sfb_recording_packer *const all[] = { NULL, &made_unpacked };

    for (size_t p = 0; p < 2; p++) {
        struct made made = made_all_kinds(all[p], 0);
        struct guarded guarded = guarded_new(made.size);
        uint8_t *bytes = guarded_copy(&guarded, made.bytes, made.size);
        const size_t block = block_at(&made, 1), end = block_at(&made, 2);

        for (size_t i = block + RECORDING_BLOCK_HEADER_SIZE; i < end; i++) {
            for (unsigned change = 1; change < 256; change = 3 * change + 1) {
                struct sfb_recording_reader *reader;

                bytes[i] = (uint8_t)(made.bytes[i] ^ change);
                seal(bytes + block);
                reader = reader_of(bytes, made.size);
                read_all(reader);
                cr_assert(eq(u64, health_of(reader).skipped, 0));
                sfb_recording_reader_close(reader);
            }
            bytes[i] = made.bytes[i];
        }
        guarded_free(&guarded);
        free(made.bytes);
    }
}

/* Each whole block is given; of one that is cut off, and not packed, the whole records. */
Test(recording, survives_each_prefix)
{
    for (size_t p = 0; p < 2; p++) {
        struct made made = made_all_kinds(packer_of(p), 0);
        struct guarded guarded = guarded_new(made.size);
        const size_t start_end = block_at(&made, 1), file = block_at(&made, 2);
        size_t before = 0;

        for (size_t size = 0; size < made.size; size++) {
            uint8_t *bytes = guarded_copy(&guarded, made.bytes, size);
            struct sfb_recording_reader *reader;
            struct sfb_recording_health health;
            size_t given;

            if (size < RECORDING_HEADER_SIZE) {
                cr_expect(eq(int, sfb_recording_reader_open_bytes(&reader, bytes, size, NULL),
                             SFB_TRUNCATED));
                continue;
            }
            reader = reader_of(bytes, size);
            given = read_all(reader);
            health = health_of(reader);
            cr_assert(not(health.finished));
            cr_assert(eq(u64, health.skipped + health.bad_blocks + health.bad_records, 0), "%zu",
                      size);
            cr_assert(le(sz, before, given));
            before = given;
            cr_assert(eq(int, health.torn == 0,
                         size == RECORDING_HEADER_SIZE || size == start_end || size == file ||
                             size == block_at(&made, 3)),
                      "%zu", size);
            if (size >= start_end && size < file && packer_of(p))
                cr_assert(eq(sz, given, 1));
            sfb_recording_reader_close(reader);
        }
        /* Record by record, but for the last block, which is only one. */
        if (!packer_of(p))
            cr_expect(eq(sz, before, made_event_count - 1));
        guarded_free(&guarded);
        free(made.bytes);
    }
}

/* Of a block that is not packed, each record that is whole is given. */
Test(recording, gives_whole_records_of_a_torn_block)
{
    struct made made = made_all_kinds(NULL, 0);
    const size_t end = block_at(&made, 2);
    size_t last = 1;

    for (size_t size = block_at(&made, 1) + RECORDING_BLOCK_HEADER_SIZE; size < end; size++) {
        struct sfb_recording_reader *reader = reader_of(made.bytes, size);
        const size_t given = read_all(reader);

        cr_assert(given == last || given == last + 1, "%zu: %zu after %zu", size, given, last);
        last = given;
        sfb_recording_reader_close(reader);
    }
    cr_expect(eq(sz, last, made_event_count - 3)); /* the last record, the file, the finish */
    free(made.bytes);
}

Test(recording, goes_on_behind_bytes_that_are_no_block)
{
    struct made made = made_all_kinds(&sfb_recording_zstd, 1);
    const size_t at = block_at(&made, 2);
    enum { MORE = 70000 };
    uint8_t *bytes = malloc(made.size + MORE);
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;

    cr_assert_not_null(bytes);
    memcpy(bytes, made.bytes, at);
    for (size_t i = 0; i < MORE; i++)
        bytes[at + i] = (uint8_t)RECORDING_BLOCK_MAGIC[i % 4];
    memcpy(bytes + at + MORE, made.bytes + at, made.size - at);
    reader = reader_of(bytes, made.size + MORE);
    cr_expect(eq(sz, read_all(reader), made_event_count));
    health = health_of(reader);
    cr_expect(eq(u64, health.skipped, MORE));
    cr_expect(eq(u64, health.skipped_at, at));
    cr_expect(eq(u64, health.lost_records, 0));
    cr_expect(health.finished);
    sfb_recording_reader_close(reader);
    free(bytes);
    free(made.bytes);
}

/* A stack that was in a lost block is in no sample. */
Test(recording, gives_no_sample_of_a_lost_stack)
{
    for (size_t p = 0; p < 2; p++) {
        uint8_t cbf[64];
        struct sfb_recording_sample sample = { .thread = 1 };
        struct sfb_recording_reader *reader;
        struct sfb_recording_health health;
        struct sfb_recording_event event;
        struct made made;
        int fd;
        struct sfb_recording_writer *w = made_open(&fd, packer_of(p), 0);
        size_t samples = 0, at, next;

        sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
        sfb_recording_put_thread(w, &(struct sfb_recording_thread){ .id = 1, .process = 1 });
        for (uint64_t i = 0; i < 3; i++) {
            sfb_recording_put_stack(w, &sample.stack, 1, cbf,
                                    made_stack(cbf, sizeof cbf, 1 + i, 1, 3));
            sfb_recording_writer_flush(w);
        }
        for (sample.stack = 1; sample.stack <= 3; sample.stack++)
            sfb_recording_put_sample(w, &sample);
        sfb_recording_writer_close(w, 0, "x");
        made = made_read(fd);
        at = block_at(&made, 2); /* stack 2 */
        next = block_at(&made, 3);
        memmove(made.bytes + at, made.bytes + next, made.size - next);
        reader = reader_of(made.bytes, made.size - (next - at));
        while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
            samples += event.kind == SFB_EVENT_SAMPLE;
            cr_expect(event.kind != SFB_EVENT_SAMPLE || event.of.sample.stack != 2);
        }
        health = health_of(reader);
        cr_expect(eq(sz, samples, 2));
        cr_expect(eq(u64, health.lost_records, 1));
        cr_expect(eq(u64, health.bad_records, 1));
        sfb_recording_reader_close(reader);
        free(made.bytes);
    }
}

/* Records are numbered: how many a block had that is not there can be told. */
Test(recording, counts_what_a_lost_block_had)
{
    struct made made = made_all_kinds(NULL, 1);
    const size_t at = block_at(&made, 2), next = block_at(&made, 3);
    struct sfb_block block;
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    size_t given;

    cr_assert(sfb_block_read(&block, made.bytes + at));
    memmove(made.bytes + at, made.bytes + next, made.size - next);
    reader = reader_of(made.bytes, made.size - (next - at));
    given = read_all(reader);
    health = health_of(reader);
    cr_expect(eq(u64, health.lost_records, block.records));
    cr_expect(eq(sz, given + block.records, made_event_count));
    cr_expect(eq(u64, health.skipped + health.bad_blocks, 0));
    sfb_recording_reader_close(reader);
    free(made.bytes);
}
