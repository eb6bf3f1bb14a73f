/* Recordings: what is written is read back, and what is damaged costs no more than what it hits. */
#include "sfb/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "recording/block.h"
#include "recording/crc32c.h"
#include "recording/format.h"
#include "recording/made.h"
#include "recording/same.h"
#include "support/guarded.h"
#include "support/test.h"

static const struct sfb_recording_packer *const packers[] = { NULL, &sfb_recording_zstd };

static struct sfb_recording_reader *reader_of(const void *bytes, size_t size)
{
    struct sfb_recording_reader *reader = NULL;

    cr_assert(eq(int, sfb_recording_reader_open_bytes(&reader, bytes, size, NULL), SFB_OK));
    return reader;
}

static struct sfb_recording_health health_of(const struct sfb_recording_reader *reader)
{
    struct sfb_recording_health health;

    sfb_recording_reader_health(reader, &health);
    return health;
}

/* Reads to the end. @return events that were given */
static size_t read_all(struct sfb_recording_reader *reader)
{
    struct sfb_recording_event event;
    enum sfb_status status;
    size_t given = 0;

    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK)
        given++;
    cr_assert(eq(int, status, SFB_END));
    cr_assert(eq(int, sfb_recording_reader_next(reader, &event), SFB_END));
    return given;
}

static bool is_whole(const struct sfb_recording_health *h)
{
    return h->finished && h->unknown_blocks + h->skipped + h->bad_blocks + h->torn +
                                  h->lost_records + h->bad_records + h->unknown_records ==
                              0;
}

/* Offset of the block with this number: 0 is the start event's. */
static size_t block_at(const struct made *made, unsigned number)
{
    size_t at = RECORDING_HEADER_SIZE;
    struct sfb_block block;

    for (unsigned i = 0;; i++) {
        cr_assert(at + RECORDING_BLOCK_HEADER_SIZE <= made->size);
        cr_assert(sfb_block_read(&block, made->bytes + at));
        if (i == number)
            return at;
        at += RECORDING_BLOCK_HEADER_SIZE + block.stored;
    }
}

/* --- What is written is read back -------------------------------------------------------------- */

Test(recording, gives_back_every_event)
{
    for (size_t p = 0; p < 2; p++) {
        for (int flush = 0; flush < 2; flush++) {
            struct made made = made_all_kinds(packers[p], flush);
            struct sfb_recording_reader *reader = reader_of(made.bytes, made.size);
            struct sfb_recording_health health;
            struct sfb_recording_event event;

            for (size_t i = 0; i < made_event_count; i++) {
                cr_assert(eq(int, sfb_recording_reader_next(reader, &event), SFB_OK), "%zu", i);
                cr_expect(same_event(&event, &made_events[i]), "%zu: kind %u for %u", i, event.kind,
                          made_events[i].kind);
            }
            cr_expect(eq(int, sfb_recording_reader_next(reader, &event), SFB_END));
            health = health_of(reader);
            cr_expect(is_whole(&health));
            cr_expect(eq(u64, health.size, made.size));
            cr_expect(eq(u64,
                         RECORDING_HEADER_SIZE + health.bytes_of_type[1] + health.bytes_of_type[2] +
                             health.bytes_of_type[3],
                         made.size));
            sfb_recording_reader_close(reader);
            free(made.bytes);
        }
    }
}

Test(recording, is_read_from_a_file_and_while_it_grows)
{
    char path[64];
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, &sfb_recording_zstd, 0);
    const struct sfb_recording_process process = { .id = 1, .program = "p" };
    struct sfb_recording_reader *reader = NULL;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cr_assert(eq(int, sfb_recording_put_process(w, &process), SFB_OK));
    cr_assert(eq(int, sfb_recording_reader_open(&reader, path, NULL), SFB_OK));
    cr_expect(eq(sz, read_all(reader), 1)); /* the start: the rest is in memory */
    sfb_recording_reader_close(reader);

    cr_assert(eq(int, sfb_recording_writer_flush(w), SFB_OK));
    cr_assert(eq(int, sfb_recording_reader_open(&reader, path, NULL), SFB_OK));
    cr_expect(eq(sz, read_all(reader), 2));
    cr_expect(not(health_of(reader).finished));
    sfb_recording_reader_close(reader);
    cr_assert(eq(int, sfb_recording_writer_close(w, 1, NULL), SFB_OK));
    close(fd);
}

/* More than one block has room for, of stacks that have much in common and little. */
Test(recording, gives_back_many_stacks)
{
    enum { COUNT = 25000 };
    static uint8_t cbf[512];
    static uint32_t ids[COUNT];
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, &sfb_recording_zstd, 0);
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    struct made made;
    size_t stacks = 0, samples = 0;

    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1, .program = "p" });
    sfb_recording_put_thread(w, &(struct sfb_recording_thread){ .id = 1, .process = 1 });
    for (uint32_t i = 0; i < COUNT; i++) {
        size_t size = made_stack(cbf, sizeof cbf, 0x1000 + i, i % 977, 1 + i % 40);

        cr_assert(eq(int, sfb_recording_put_stack(w, &ids[i], 1, cbf, size), SFB_OK));
        cr_assert(eq(int,
                     sfb_recording_put_sample(
                         w, &(struct sfb_recording_sample){ .thread = 1, .stack = ids[i] }),
                     SFB_OK));
    }
    cr_assert(eq(int, sfb_recording_writer_close(w, 1, "x"), SFB_OK));
    made = made_read(fd);
    reader = reader_of(made.bytes, made.size);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        if (event.kind == SFB_EVENT_STACK) {
            const uint32_t i = (uint32_t)stacks++;
            const size_t size = made_stack(cbf, sizeof cbf, 0x1000 + i, i % 977, 1 + i % 40);

            cr_assert(eq(u32, event.of.stack.id, ids[i]));
            cr_assert(event.of.stack.size == size && memcmp(event.of.stack.cbf, cbf, size) == 0);
        } else if (event.kind == SFB_EVENT_SAMPLE) {
            cr_assert(eq(u32, event.of.sample.stack, ids[samples++]));
        }
    }
    cr_expect(eq(sz, stacks, COUNT));
    cr_expect(eq(sz, samples, COUNT));
    cr_expect(is_whole(&(struct sfb_recording_health[]){ health_of(reader) }[0]));
    cr_expect(le(u64, 3, health_of(reader).blocks));
    sfb_recording_reader_close(reader);
    free(made.bytes);
}

Test(recording, writes_a_stack_of_a_process_once)
{
    uint8_t cbf[64];
    const size_t size = made_stack(cbf, sizeof cbf, 0x1000, 1, 4);
    uint32_t first = 0, again = 0, other = 0, forgotten = 0;
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, NULL, 0);

    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 2 });
    sfb_recording_put_stack(w, &first, 1, cbf, size);
    sfb_recording_writer_flush(w);
    sfb_recording_put_stack(w, &again, 1, cbf, size);
    sfb_recording_put_stack(w, &other, 2, cbf, size);
    sfb_recording_forget_stacks(w, 1);
    sfb_recording_put_stack(w, &forgotten, 1, cbf, size);
    cr_expect(eq(u32, first, 1));
    cr_expect(eq(u32, again, 1));
    cr_expect(eq(u32, other, 2));
    cr_expect(eq(u32, forgotten, 3));
    sfb_recording_writer_close(w, 0, NULL);
    close(fd);
}

/* A file that is larger than a block comes in parts, each but the last up to the end of a line. */
Test(recording, gives_a_large_file_in_parts)
{
    enum { LINES = 900000, LINE = 21 };
    char *text = malloc((size_t)LINES * LINE + 1), *rest = text;
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, &sfb_recording_zstd, 0);
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    struct made made;
    size_t parts = 0;

    cr_assert_not_null(text);
    for (int i = 0; i < LINES; i++)
        snprintf(text + (size_t)i * LINE, LINE + 1, "%08x 10 name_%03u\n", (unsigned)i,
                 (unsigned)i % 1000u);
    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
    cr_assert(eq(int,
                 sfb_recording_put_file(w, &(struct sfb_recording_file){ 1, "perf-1.map", text,
                                                                         (size_t)LINES * LINE }),
                 SFB_OK));
    sfb_recording_writer_close(w, 0, "x");
    made = made_read(fd);
    reader = reader_of(made.bytes, made.size);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        if (event.kind != SFB_EVENT_FILE)
            continue;
        parts++;
        cr_assert_eq(memcmp(rest, event.of.file.bytes, event.of.file.size), 0);
        rest += event.of.file.size;
        cr_expect_eq(rest[-1], '\n');
    }
    cr_expect(eq(sz, (size_t)(rest - text), (size_t)LINES * LINE));
    cr_expect(eq(sz, parts, 3));
    sfb_recording_reader_close(reader);
    free(made.bytes);
    free(text);
}

/* --- What the writer refuses ------------------------------------------------------------------- */

Test(recording, refuses_what_nobody_could_read)
{
    static const uint8_t bad[][4] = { { 2, 0x18, 5 }, { 2, 0x90, 0, 0 }, { 2, 0x18, 5, 0x41 } };
    uint32_t id = 0;
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, NULL, 0);

    cr_expect(eq(int,
                 sfb_recording_put_thread(w, &(struct sfb_recording_thread){ 1, 1, 1, 0, 0, "" }),
                 SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 0 }),
                 SFB_BAD_ARGUMENT));
    cr_expect(
        eq(int, sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 5 }), SFB_OK));
    cr_expect(eq(int, sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 5 }),
                 SFB_BAD_ARGUMENT));
    cr_expect(eq(
        int, sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 6, .parent = 4 }),
        SFB_BAD_ARGUMENT));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(
            eq(int, sfb_recording_put_stack(w, &id, 5, bad[i], i == 0 ? 3 : 4), SFB_BAD_ARGUMENT));
    cr_expect(eq(int,
                 sfb_recording_put_thread(w, &(struct sfb_recording_thread){ 1, 5, 1, 0, 0, "" }),
                 SFB_OK));
    cr_expect(eq(
        int, sfb_recording_put_sample(w, &(struct sfb_recording_sample){ .thread = 1, .stack = 1 }),
        SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_recording_put_sample(w, &(struct sfb_recording_sample){ .thread = 2 }),
                 SFB_BAD_ARGUMENT));
    cr_expect(eq(int,
                 sfb_recording_put_thread_end(w, &(struct sfb_recording_thread_end){ .id = 3 }),
                 SFB_BAD_ARGUMENT));
    sfb_recording_writer_close(w, 0, NULL);
    close(fd);
}

Test(recording, says_that_the_disk_is_full)
{
    struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_recording_writer *w = NULL;
    const int fd = open("/dev/full", O_WRONLY);

    cr_assert(ge(int, fd, 0));
    cr_expect(eq(int,
                 sfb_recording_writer_open(&w, fd, &(struct sfb_recording_start){ 0 }, &options),
                 SFB_NO_RESOURCE));
    cr_expect(eq(int, errno, ENOSPC));
    cr_expect_null(w);
    close(fd);
}

/* Fills a file up to a limit. @return the writer's last status */
static enum sfb_status put_samples_until_full(struct sfb_recording_writer *w)
{
    uint8_t cbf[512];
    enum sfb_status status = SFB_OK;

    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
    sfb_recording_put_thread(w, &(struct sfb_recording_thread){ .id = 1, .process = 1 });
    sfb_recording_writer_flush(w);
    for (uint64_t i = 0; i < 100000 && status == SFB_OK; i++) {
        uint32_t id = 0;
        const size_t size = made_stack(cbf, sizeof cbf, 0x1000 + i * i * 77, i, 30);

        status = sfb_recording_put_stack(w, &id, 1, cbf, size);
        if (status == SFB_OK)
            status = sfb_recording_put_sample(
                w, &(struct sfb_recording_sample){
                       .thread = 1, .stack = id, .time = i * i, .weight = 1 });
    }
    return status;
}

/* It is whole, and says what it lacks. */
static void expect_full(const struct made *made)
{
    struct sfb_recording_reader *reader = reader_of(made->bytes, made->size);
    struct sfb_recording_event event;
    struct sfb_recording_health health;
    uint64_t lost = 0, samples = 0, ended = 0, finish = 0;

    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        samples += event.kind == SFB_EVENT_SAMPLE;
        ended += event.kind == SFB_EVENT_PROCESS_END;
        if (event.kind == SFB_EVENT_LOSSES && event.of.losses.reason == SFB_LOSS_FILE)
            lost += event.of.losses.count;
        if (event.kind == SFB_EVENT_FINISH)
            finish = event.of.finish.samples;
    }
    health = health_of(reader);
    cr_expect(is_whole(&health));
    cr_expect(lt(u64, 0, lost));
    cr_expect(eq(u64, ended, 1));
    cr_expect(eq(u64, finish, samples));
    sfb_recording_reader_close(reader);
}

Test(recording, stays_within_its_limit)
{
    for (size_t p = 0; p < 2; p++) {
        enum { LIMIT = 1 << 20 };
        int fd;
        struct sfb_recording_writer *w = made_open(&fd, packers[p], LIMIT);
        struct made made;

        cr_expect(eq(int, put_samples_until_full(w), SFB_NO_RESOURCE));
        cr_expect(eq(int, sfb_recording_writer_errno(w), EFBIG));
        cr_expect(eq(
            int, sfb_recording_put_process_end(w, &(struct sfb_recording_process_end){ .id = 1 }),
            SFB_OK));
        cr_expect(eq(int, sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 2 }),
                     SFB_NO_RESOURCE));
        cr_expect(eq(int, sfb_recording_writer_close(w, 9, "--max-size"), SFB_OK));
        made = made_read(fd);
        cr_expect(le(sz, made.size, LIMIT));
        cr_expect(le(sz, LIMIT / 2, made.size));
        expect_full(&made);
        free(made.bytes);
    }
}

/* The file system gives out in the middle of a block: that one is taken back, and what is there is whole. */
Test(recording, leaves_no_torn_block_where_there_is_no_room)
{
    const struct rlimit limit = { 300001, 300001 };
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, NULL, 0);
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct made made;

    signal(SIGXFSZ, SIG_IGN);
    cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &limit), 0));
    cr_expect(eq(int, put_samples_until_full(w), SFB_NO_RESOURCE));
    cr_expect(eq(int, sfb_recording_writer_errno(w), EFBIG));
    cr_expect(lt(u64, 200000, sfb_recording_writer_size(w)));
    sfb_recording_writer_close(w, 9, NULL);
    made = made_read(fd);
    reader = reader_of(made.bytes, made.size);
    cr_expect(lt(sz, 1000, read_all(reader)));
    health = health_of(reader);
    cr_expect(eq(u64, health.torn + health.skipped + health.bad_blocks, 0));
    sfb_recording_reader_close(reader);
    free(made.bytes);
}

/* --- Damage ------------------------------------------------------------------------------------ */

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
        struct made made = made_all_kinds(packers[p], 1);
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

/* Each whole block is given; of one that is cut off, and not packed, the whole records. */
Test(recording, survives_each_prefix)
{
    for (size_t p = 0; p < 2; p++) {
        struct made made = made_all_kinds(packers[p], 0);
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
            if (size >= start_end && size < file && packers[p])
                cr_assert(eq(sz, given, 1));
            sfb_recording_reader_close(reader);
        }
        /* Record by record, but for the last block, which is only one. */
        if (!packers[p])
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

/* Without the block that introduces them, what names its stacks and threads is no event. */
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

/* Writes a block's header again, with sums that are right. */
static void seal(uint8_t *at)
{
    struct sfb_block block;

    recording_put_le(at + RECORDING_BLOCK_CRC, sfb_crc32c(0, at, RECORDING_BLOCK_CRC), 4);
    cr_assert(sfb_block_read(&block, at));
    block.crc = sfb_crc32c(0, at + RECORDING_BLOCK_HEADER_SIZE, block.stored);
    sfb_block_write(at, &block);
}

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
    read_all(reader);
    cr_expect(eq(u64, health_of(reader).unknown_records, 1));
    cr_expect(le(u64, 2, health_of(reader).bad_records)); /* its thread, its modules */
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

Test(recording, has_the_sum_that_iscsi_has)
{
    uint8_t bytes[32]; /* RFC 3720, B.4 */

    memset(bytes, 0, sizeof bytes);
    cr_expect(eq(u32, sfb_crc32c(0, bytes, sizeof bytes), 0x8a9136aa));
    memset(bytes, 0xff, sizeof bytes);
    cr_expect(eq(u32, sfb_crc32c(0, bytes, sizeof bytes), 0x62a8ab43));
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    cr_expect(eq(u32, sfb_crc32c(sfb_crc32c(0, bytes, 5), bytes + 5, 27), 0x46dd794e));
}

Test(recording, names_engines_and_losses)
{
    for (uint32_t i = 0; i < SFB_LOSS_COUNT; i++)
        cr_expect_str_neq(sfb_recording_loss_str(i), "?");
    cr_expect_str_eq(sfb_recording_loss_str(SFB_LOSS_COUNT), "?");
    cr_expect_str_eq(sfb_recording_engine_str(SFB_ENGINE_TIMER), "CPU-time timers");
    cr_expect_str_eq(sfb_recording_engine_str(99), "?");
}
