/* Recordings: what is written is read back. */
#include "sfb/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/format/crc32c.h"
#include "profiler/format/format.h"
#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "support/test.h"

Test(recording, gives_back_every_event)
{
    for (size_t p = 0; p < 2; p++) {
        for (int flush = 0; flush < 2; flush++) {
            struct made made = made_all_kinds(packer_of(p), flush);
            const struct sfb_recording_health health = expect_made_events(&made);

            cr_expect(is_whole(&health));
            cr_expect(eq(u64, health.size, made.size));
            cr_expect(eq(u64,
                         RECORDING_HEADER_SIZE + health.bytes_of_type[1] + health.bytes_of_type[2] +
                             health.bytes_of_type[3],
                         made.size));
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

/* Time of waits, as it is in the file. */
Test(recording, sums_up_waits)
{
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, &sfb_recording_zstd, 0);
    const struct sfb_recording_process process = { .id = 1, .program = "p" };
    const struct sfb_recording_thread thread = { .id = 1, .process = 1, .name = "t" };
    const struct sfb_recording_wait wait = { .thread = 1, .weight = 1000, .call = "" },
                                    of_none = { .thread = 2, .weight = 1000, .call = "" };
    uint64_t weight;

    cr_assert(eq(int, sfb_recording_put_process(w, &process), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_thread(w, &thread), SFB_OK));
    for (unsigned round = 1; round <= 2; round++) {
        cr_assert(eq(int, sfb_recording_put_wait(w, &wait), SFB_OK));
        cr_assert(eq(int, sfb_recording_put_wait(w, &wait), SFB_OK));
        cr_expect(eq(int, sfb_recording_put_wait(w, &of_none), SFB_BAD_ARGUMENT));
        cr_expect(eq(u64, sfb_recording_writer_waited(w), (round - 1) * 2000));
        cr_assert(eq(int, sfb_recording_writer_flush(w), SFB_OK));
        cr_expect(eq(u64, sfb_recording_writer_waited(w), round * 2000));
    }
    cr_expect(eq(u64, sfb_recording_writer_samples(w, &weight), 0));
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

/* So many that some have the same hash: it has 32 bits. */
Test(recording, tells_stacks_apart_by_their_bytes)
{
    enum { COUNT = 300000 };
    uint8_t cbf[] = { 2, 0x1f, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, NULL, 0);

    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t random = (i + 1) * 0x9e3779b97f4a7c15u; /* splitmix64: no two are equal */
        uint32_t id = 0;

        random = (random ^ random >> 30) * 0xbf58476d1ce4e5b9u;
        random = (random ^ random >> 27) * 0x94d049bb133111ebu;
        random ^= random >> 31;
        memcpy(cbf + 2, &random, sizeof random);
        cr_assert(eq(int, sfb_recording_put_stack(w, &id, 1, cbf, sizeof cbf), SFB_OK));
        cr_assert(eq(u32, id, i + 1));
    }
    sfb_recording_writer_close(w, 0, NULL);
    close(fd);
}

/* A file that is larger than a block comes in parts, each but the last up to the end of a line. */
Test(recording, gives_a_large_file_in_parts)
{
    enum { LINES = 420000, LINE = 21 };
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
    cr_expect(eq(sz, parts, 2));
    sfb_recording_reader_close(reader);
    free(made.bytes);
    free(text);
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

/* Eight bytes at once, and one by one. */
Test(recording, sums_are_the_same_at_once_and_in_parts)
{
    uint8_t bytes[1000];
    uint32_t sum = 0;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    for (size_t i = 0; i < sizeof bytes; i += 5)
        sum = sfb_crc32c(sum, bytes + i, 5);
    cr_expect(eq(u32, sfb_crc32c(0, bytes, sizeof bytes), sum));
    cr_expect(eq(u32, sfb_crc32c(sfb_crc32c(0, bytes, 1), bytes + 1, sizeof bytes - 1), sum));
}

Test(recording, names_engines_and_losses)
{
    for (uint32_t i = 0; i < SFB_LOSS_COUNT; i++)
        cr_expect_str_neq(sfb_recording_loss_str(i), "?");
    cr_expect_str_eq(sfb_recording_loss_str(SFB_LOSS_COUNT), "?");
    for (uint32_t i = 0; i < SFB_STATE_COUNT; i++)
        cr_expect_str_neq(sfb_recording_state_str(i), "?");
    cr_expect_str_eq(sfb_recording_state_str(SFB_STATE_COUNT), "?");
    cr_expect_str_eq(sfb_recording_engine_str(SFB_ENGINE_TIMER), "CPU-time timers");
    cr_expect_str_eq(sfb_recording_engine_str(99), "?");
}
