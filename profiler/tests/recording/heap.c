/* Recordings of heaps: what is written is read back. */
#include "sfb/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/format/format.h"
#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "support/test.h"

Test(recording_heap, gives_back_every_event)
{
    const struct sfb_recording_packer *const all[] = { NULL, &made_unpacked, &sfb_recording_zstd };

    for (size_t p = 0; p < 3; p++) {
        struct made made = made_heap(all[p]);
        const struct sfb_recording_health health = expect_made_events(&made);

        cr_expect(is_whole(&health));
        cr_expect(lt(u64, 0, health.bytes_of_type[SFB_RECORDING_TYPE_HEAP]));
        free(made.bytes);
    }
}

/* A writer with so many processes, each with a thread and a site of its number. */
static struct sfb_recording_writer *open_with(int *fd, uint32_t processes, uint64_t max_size)
{
    struct sfb_recording_writer *w = made_open(fd, &sfb_recording_zstd, max_size);

    for (uint32_t i = 1; i <= processes; i++) {
        cr_assert(eq(int, sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = i }),
                     SFB_OK));
        cr_assert(
            eq(int,
               sfb_recording_put_thread(w, &(struct sfb_recording_thread){ .id = i, .process = i }),
               SFB_OK));
        cr_assert(eq(int,
                     sfb_recording_put_heap_site(
                         w, &(struct sfb_recording_heap_site){ .id = i, .thread = i }),
                     SFB_OK));
    }
    return w;
}

/* More than blocks are open at a time: each process has its events, in their order. */
Test(recording_heap, keeps_the_order_of_each_process)
{
    enum { PROCESSES = 11, EACH = 4000 };
    int fd;
    struct sfb_recording_writer *w = open_with(&fd, PROCESSES, 0);
    uint64_t seen[PROCESSES + 1] = { 0 };
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    struct made made;

    for (uint64_t i = 0; i < EACH; i++)
        for (uint32_t p = 1; p <= PROCESSES; p += i % 7 == p % 7 ? 2 : 1)
            cr_assert(
                eq(int,
                   sfb_recording_put_heap_event(
                       w, &(struct sfb_recording_heap_event){ p, p, 1000 + i * 1000000, i, i % 2 }),
                   SFB_OK));
    sfb_recording_writer_close(w, 1, "x");
    made = made_read(fd);
    reader = reader_of(made.bytes, made.size);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        const struct sfb_recording_heap_event *e = &event.of.heap_event;

        if (event.kind != SFB_EVENT_HEAP_EVENT)
            continue;
        cr_assert(eq(u32, e->process, e->site));
        cr_assert(e->size + 1 > seen[e->process]);
        cr_assert(eq(int, e->freed, e->size % 2));
        cr_assert(e->time <= 1000 + e->size * 1000000 &&
                  e->time + 10000000 > 1000 + e->size * 1000000);
        seen[e->process] = e->size + 1;
    }
    health = health_of(reader);
    cr_expect(is_whole(&health));
    for (uint32_t p = 1; p <= PROCESSES; p++)
        cr_expect(le(u64, EACH - 1, seen[p]));
    sfb_recording_reader_close(reader);
    free(made.bytes);
}

/* More pairs than a block has. */
Test(recording_heap, gives_back_many_sizes)
{
    enum { COUNT = 700000 };
    int fd;
    struct sfb_recording_writer *w = open_with(&fd, 2, 0);
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    struct made made;
    uint64_t seen = 0;

    for (uint64_t i = 0; i < COUNT; i++)
        cr_assert(eq(int,
                     sfb_recording_put_heap_event(
                         w, &(struct sfb_recording_heap_event){ 1, 1, 7, i, false }),
                     SFB_OK));
    sfb_recording_writer_close(w, 1, "x");
    made = made_read(fd);
    reader = reader_of(made.bytes, made.size);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK)
        if (event.kind == SFB_EVENT_HEAP_EVENT)
            cr_assert(eq(u64, event.of.heap_event.size, seen++));
    health = health_of(reader);
    cr_expect(is_whole(&health));
    cr_expect(eq(u64, seen, COUNT));
    sfb_recording_reader_close(reader);
    free(made.bytes);
}

/* A program that does the same again and again: what heaptrack's file has is 0.12 bytes a pair. */
Test(recording_heap, is_small_where_events_repeat)
{
    enum { ROUNDS = 20000, EACH = 12 };
    int fd;
    struct sfb_recording_writer *w = open_with(&fd, 3, 0);
    struct made made;

    for (uint64_t i = 0; i < ROUNDS; i++)
        for (uint64_t k = 0; k < 2 * EACH; k++)
            sfb_recording_put_heap_event(
                w, &(struct sfb_recording_heap_event){ 1, 1 + (uint32_t)(k % 3), i * 5000,
                                                       16 * (k % EACH), k >= EACH });
    sfb_recording_writer_close(w, 1, "x");
    made = made_read(fd);
    cr_expect(lt(sz, made.size, ROUNDS * EACH * 15 / 100), "%zu bytes", made.size);
    free(made.bytes);
}

Test(recording_heap, refuses_what_was_not_introduced)
{
    int fd;
    struct sfb_recording_writer *w = open_with(&fd, 2, 0);

    cr_expect(eq(int, sfb_recording_put_heap(w, &(struct sfb_recording_heap){ .process = 3 }),
                 SFB_BAD_ARGUMENT));
    cr_expect(eq(
        int,
        sfb_recording_put_heap_site(w, &(struct sfb_recording_heap_site){ .id = 3, .thread = 3 }),
        SFB_BAD_ARGUMENT));
    cr_expect(eq(
        int,
        sfb_recording_put_heap_site(w, &(struct sfb_recording_heap_site){ .id = 2, .thread = 1 }),
        SFB_BAD_ARGUMENT));
    cr_expect(eq(int,
                 sfb_recording_put_heap_site(
                     w, &(struct sfb_recording_heap_site){ .id = 3, .thread = 1, .stack = 1 }),
                 SFB_BAD_ARGUMENT));
    cr_expect(eq(int,
                 sfb_recording_put_heap_totals(w, &(struct sfb_recording_heap_totals){ .site = 3 }),
                 SFB_BAD_ARGUMENT));
    cr_expect(
        eq(int, sfb_recording_put_heap_state(w, &(struct sfb_recording_heap_state){ .process = 3 }),
           SFB_BAD_ARGUMENT));
    cr_expect(eq(int,
                 sfb_recording_put_heap_event(
                     w, &(struct sfb_recording_heap_event){ .process = 1, .site = 3 }),
                 SFB_BAD_ARGUMENT));
    sfb_recording_writer_close(w, 0, NULL);
    close(fd);
}

/* Behind the limit the sums of all sites are still written, and how it ended. */
Test(recording_heap, has_its_sums_within_a_limit)
{
    enum { LIMIT = 400 << 10, SITES = 2000 };
    int fd;
    struct sfb_recording_writer *w = open_with(&fd, 1, LIMIT);
    struct sfb_recording_heap_totals totals = { .allocated = { 5, 99, 5, 0, 0 } };
    enum sfb_status status = SFB_OK;
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    struct made made;
    uint64_t sums = 0, lost = 0;

    for (uint32_t i = 2; i <= SITES; i++)
        sfb_recording_put_heap_site(w, &(struct sfb_recording_heap_site){ .id = i, .thread = 1 });
    for (uint64_t i = 0; status == SFB_OK; i++)
        status = sfb_recording_put_heap_event(
            w, &(struct sfb_recording_heap_event){ 1, 1 + i * i % SITES, i * 1000, i * i, false });
    cr_expect(eq(int, sfb_recording_writer_errno(w), EFBIG));
    for (totals.site = 1; totals.site <= SITES; totals.site++) {
        totals.sizes[totals.site % SFB_HEAP_CLASSES] = totals.site;
        cr_expect(eq(int, sfb_recording_put_heap_totals(w, &totals), SFB_OK));
    }
    sfb_recording_put_heap_state(w, &(struct sfb_recording_heap_state){ .process = 1 });
    sfb_recording_put_process_end(w, &(struct sfb_recording_process_end){ .id = 1 });
    cr_expect(eq(int, sfb_recording_writer_close(w, 9, "--max-size"), SFB_OK));
    made = made_read(fd);
    cr_expect(le(sz, made.size, LIMIT));
    cr_expect(le(sz, LIMIT / 2, made.size));
    reader = reader_of(made.bytes, made.size);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        sums += event.kind == SFB_EVENT_HEAP_TOTALS;
        if (event.kind == SFB_EVENT_LOSSES)
            lost += event.of.losses.count;
    }
    health = health_of(reader);
    cr_expect(is_whole(&health));
    cr_expect(eq(u64, sums, SITES));
    cr_expect(lt(u64, 0, lost));
    sfb_recording_reader_close(reader);
    free(made.bytes);
}
