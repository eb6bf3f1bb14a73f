/* Recordings: what the writer refuses, and what it does where there is no room. */
#include "sfb/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "sfb/cbf.h"
#include "support/test.h"

Test(recording, refuses_what_nobody_could_read)
{
    static const uint8_t bad[][4] = { { 2, 0x18, 5 }, { 2, 0x90, 0, 0 }, { 2, 0x18, 5, 0x41 } };
    uint32_t id = 0;
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, NULL, 0);

    cr_expect(
        eq(int, sfb_recording_put_thread(w, &(struct sfb_recording_thread){ 1, 1, 1, 0, 0, "", 0 }),
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
    cr_expect(
        eq(int, sfb_recording_put_thread(w, &(struct sfb_recording_thread){ 1, 5, 1, 0, 0, "", 0 }),
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
        enum { LIMIT = 640 << 10 };
        int fd;
        struct sfb_recording_writer *w = made_open(&fd, packer_of(p), LIMIT);
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

/* A stack of nearly a MiB, whose innermost frame is `inner`. */
static size_t make_large_stack(uint8_t *out, size_t size, uint64_t inner)
{
    struct sfb_cbf_encoder encoder;

    sfb_cbf_encoder_init(&encoder, out, size, 64);
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, inner);
    for (size_t i = 0; i < size / 9 - 1; i++)
        sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, i % 2 ? 5 : UINT64_MAX / 2);
    return sfb_cbf_encoder_end(&encoder, false);
}

/* Memory for stacks that were had has a limit: beyond it they are written again. */
Test(recording, forgets_stacks_rather_than_grow)
{
    enum { COUNT = 64, SIZE = 1 << 20 };
    uint8_t *cbf = malloc(SIZE);
    uint32_t id = 0;
    size_t size = 0;
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, &sfb_recording_zstd, 0);

    cr_assert_not_null(cbf);
    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
    for (uint32_t i = 1; i <= COUNT; i++) {
        size = make_large_stack(cbf, SIZE, i);
        cr_assert(eq(int, sfb_recording_put_stack(w, &id, 1, cbf, size), SFB_OK));
        cr_assert(eq(u32, id, i));
    }
    cr_expect(lt(sz, SIZE / 2, size));
    cr_expect(eq(int, sfb_recording_put_stack(w, &id, 1, cbf, size), SFB_OK));
    cr_expect(eq(u32, id, COUNT)); /* the last one is known */
    size = make_large_stack(cbf, SIZE, 1);
    cr_expect(eq(int, sfb_recording_put_stack(w, &id, 1, cbf, size), SFB_OK));
    cr_expect(eq(u32, id, COUNT + 1)); /* the first one is not */
    cr_expect(lt(u64, mallinfo2().uordblks + mallinfo2().hblkhd, 100 << 20));
    sfb_recording_writer_close(w, 0, NULL);
    close(fd);
    free(cbf);
}
