/* What may happen to a block, a thread, a ring: one case each. */
#include <stdlib.h>
#include <string.h>

#include "profiler/collector/heap/heap_session.h"
#include "profiler/tests/heap_drain/made_session.h"
#include "support/test.h"

enum { MS = 1000000 };

static void begin(const struct made_options *options)
{
    made_session_begin(options ? options : &(struct made_options){ 0 });
    made_process(0);
    for (uint32_t t = 0; t < 2; t++) {
        made_thread(t, 0);
        made_stack_record(t, 10 + t, 1 + t);
    }
}

static void expect_no_loss(const struct made_heap *h)
{
    for (unsigned i = 0; i < SFB_LOSS_COUNT; i++)
        cr_expect(h->lost[i] == 0, "%s: %s", sfb_recording_loss_str(i), h->why);
}

/* The clocks of two processors are some ns apart: the free looks younger than the allocation behind it. */
Test(heap_cases, waits_for_the_other_threads_free)
{
    struct made_heap *h;
    struct made_sums s;

    begin(NULL);
    made_alloc(0, MS, 0x1000, 8, 1);
    made_alloc(1, 2 * MS, 0x1000, 16, 2); /* before it is freed, it says */
    made_free(0, 2 * MS + 300, 0x1000);
    made_free(1, 3 * MS, 0x1000);
    made_free(1, 4 * MS, 0x2000); /* before it is allocated, it says */
    made_alloc(0, 4 * MS + 300, 0x2000, 32, 1);
    made_alloc(1, 5 * MS, 0x3000, 64, 2);
    h = made_session_end();
    made_replay(h);
    s = made_sums_of(h);
    cr_expect(s.allocated == 4 && s.live == 1 && s.live_bytes == 64);
    cr_expect(s.peak_bytes == 64 && h->event_count == 7);
    cr_expect(h->state.unknown_frees == 0 && h->state.conflicts == 0);
    expect_no_loss(h);
    free(h);
}

/* What does not come is counted, and nothing is freed or allocated twice. */
Test(heap_cases, counts_what_contradicts)
{
    struct made_heap *h;
    struct made_sums s;

    begin(NULL);
    made_free(0, MS, 0x9000);              /* from before the recording */
    made_alloc(0, 2 * MS, 0x9000, 8, 1);   /* its address is given out again */
    made_alloc(1, 3 * MS, 0x9000, 100, 2); /* whose free was lost */
    made_free(0, 4 * MS, 0x9000);
    made_free(0, 5 * MS, 0x9000);
    made_free(1, 6 * MS, 0x7000);
    h = made_session_end();
    made_replay(h);
    s = made_sums_of(h);
    cr_expect(s.allocated == 2 && s.live == 0);
    cr_expect(h->state.conflicts == 1);
    cr_expect(h->state.unknown_frees == 3);
    expect_no_loss(h);
    free(h);
}

/* The agent counts a library that was opened with RTLD_DEEPBIND: the other half of an event may be such a library's. */
Test(heap_cases, counts_as_unseen_where_a_library_bypasses_the_agent)
{
    struct made_heap *h;

    begin(NULL);
    made_shared_process(0)->lost[SFB_LOSS_DEEPBIND] = 1;
    made_free(0, MS, 0x9000);
    made_alloc(0, 2 * MS, 0x9000, 8, 1);
    made_alloc(1, 3 * MS, 0x9000, 100, 2);
    h = made_session_end();
    made_replay(h);
    cr_expect(h->state.conflicts == 0 && h->state.unknown_frees == 0);
    cr_expect(h->lost[SFB_LOSS_DEEPBIND] == 1 && h->lost[SFB_LOSS_HEAP_UNSEEN] == 2, "%zu",
              (size_t)h->lost[SFB_LOSS_HEAP_UNSEEN]);
    free(h);
}

/* The agent notes the end, and then destructors of the program free: what is summed is no older than its events. */
Test(heap_cases, sums_what_comes_after_the_end_that_was_noted)
{
    struct made_heap *h;
    uint64_t later;

    begin(NULL);
    later = made_now() + 50 * (uint64_t)MS;
    made_alloc(0, MS, 0x1000, 8, 1);
    made_shared_process(0)->end = made_shared_process(0)->start;
    made_free(0, later, 0x1000);
    h = made_session_end();
    made_replay(h);
    cr_expect(h->totals[1].time >= h->events[h->event_count - 1].time,
              "sums of %zu, an event of %zu", (size_t)h->totals[1].time,
              (size_t)h->events[h->event_count - 1].time);
    free(h);
}

/* A string is made, another of it, and both are freed: no free is its allocation's next event. */
Test(heap_cases, finds_what_is_temporary_within_some_events)
{
    static const struct {
        uint32_t within, temporary;
    } cases[] = { { 0, 3 }, { 1, 0 }, { 2, 2 }, { 3, 3 }, { 64, 3 } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_heap *h;

        begin(&(struct made_options){ .temporary_within = cases[i].within });
        made_alloc(0, MS, 0x1000, 8, 1);
        made_alloc(0, 2 * MS, 0x2000, 8, 1);
        made_free(0, 3 * MS, 0x1000); /* 2 events behind it */
        made_free(0, 4 * MS, 0x2000); /* 2 */
        made_alloc(0, 5 * MS, 0x3000, 8, 1);
        made_alloc(0, 6 * MS, 0x2000, 8, 1); /* lives */
        made_free(1, 7 * MS, 0x5000);
        made_free(0, 8 * MS, 0x6000);
        made_free(0, 9 * MS, 0x3000); /* 3 */
        h = made_session_end();
        cr_expect_eq(h->totals[1].temporary.blocks, cases[i].temporary, "within %u: %zu",
                     cases[i].within, (size_t)h->totals[1].temporary.blocks);
        free(h);
    }
}

static void put(uint32_t ring, uint64_t time, uint32_t kind, uint64_t a, uint64_t b, uint64_t c,
                size_t count)
{
    made_record(ring, time, kind, (const uint64_t[]){ a, b, c }, count);
    made_publish(ring);
}

Test(heap_cases, follows_realloc)
{
    struct made_heap *h;
    struct made_sums s;

    begin(NULL);
    made_alloc(0, MS, 0x1000, 10, 1);
    for (uint64_t i = 1; i <= 3; i++) { /* to another address, and in its place */
        put(0, MS + 1000 * i, SFB_HEAP_FREE_REALLOC, i == 1 ? 0x1000 : 0x2000, 0, 0, 1);
        put(0, MS + 1000 * i + 500, SFB_HEAP_ALLOC_REALLOC, 0x2000, (10 * i) | (uint64_t)5 << 48, 1,
            3);
    }
    put(0, 2 * MS, SFB_HEAP_FREE_REALLOC, 0x2000, 0, 0, 1); /* it fails */
    made_alloc(1, 2 * MS + 5, 0x8000, 1, 2);
    put(0, 2 * MS + 10, SFB_HEAP_REALLOC_FAILED, 0x2000, 0, 0, 1);
    put(1, 3 * MS, SFB_HEAP_FREE_REALLOC, 0x5000, 0, 0, 1); /* nobody knows it */
    put(1, 3 * MS + 1, SFB_HEAP_ALLOC_REALLOC, 0x5000, 7, 2, 3);
    put(1, 4 * MS, SFB_HEAP_FREE_REALLOC, 0x8000, 0, 0, 1); /* its size is 0 */
    h = made_session_end();
    made_replay(h);
    s = made_sums_of(h);
    cr_expect(s.allocated == 6 && s.live == 2 && s.live_bytes == 30 + 7);
    cr_expect(s.reallocated == 4);
    cr_expect(h->totals[1].longest_chain == 3);
    cr_expect(h->totals[1].slack_bytes == 15 && h->totals[1].live_slack_bytes == 5);
    cr_expect(h->totals[1].temporary.blocks == 3); /* each freed by the next event */
    cr_expect(h->state.unknown_frees == 1 && h->state.conflicts == 0);
    free(h);
}

Test(heap_cases, follows_mappings)
{
    struct made_heap *h;
    struct made_sums s;

    begin(NULL);
    put(0, MS, SFB_HEAP_ALLOC_MMAP, 0x10000, 0x8000, 1, 3);
    put(0, 2 * MS, SFB_HEAP_FREE_MMAP, 0x12000, 0x1000, 0, 2);  /* out of its middle */
    put(1, 3 * MS, SFB_HEAP_ALLOC_MMAP, 0x17000, 0x2000, 2, 3); /* over its end */
    put(1, 4 * MS, SFB_HEAP_FREE_MMAP, 0x10000, 0x1000, 0, 2);
    put(1, 5 * MS, SFB_HEAP_FREE_MMAP, 0x80000, 0x1000, 0, 2); /* nobody knows it */
    h = made_session_end();
    made_replay(h);
    s = made_sums_of(h);
    cr_expect(s.live_bytes == 0x1000 + 0x4000 + 0x2000, "%#zx", (size_t)s.live_bytes);
    cr_expect(h->site[1].kind == SFB_HEAP_MAPPED && h->site[2].kind == SFB_HEAP_MAPPED);
    cr_expect(h->state.unknown_frees == 0 && h->state.peak.bytes == 0x8000);
    expect_no_loss(h);
    free(h);
}

/* A thread that has read the clock and not yet published holds the others back: the peak is that of the true order. */
Test(heap_cases, waits_for_a_thread_that_is_busy)
{
    struct sfb_shared_ring *ring;
    struct made_heap *h;
    uint64_t now;

    begin(NULL);
    ring = made_ring(1);
    made_alloc(1, MS, 0x2000, 100, 2);
    now = made_now();
    made_record(1, now, SFB_HEAP_FREE, (const uint64_t[]){ 0x2000 }, 1);
    ring->busy = 1;
    made_alloc(0, now + 10, 0x3000, 50, 1);
    while (made_now() < now + MS)
        continue;
    cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    made_publish(1);
    ring->busy = 0;
    h = made_session_end();
    made_replay(h);
    cr_expect(h->state.peak.bytes == 100, "%zu", (size_t)h->state.peak.bytes);
    cr_expect(h->state.live.bytes == 50);
    expect_no_loss(h);
    free(h);
}

/* One that never goes on does not keep the others for ever. */
Test(heap_cases, loses_patience)
{
    struct made_heap *h;
    uint64_t read;

    begin(NULL);
    made_ring(1)->busy = 1;
    made_alloc(0, 1000 * MS, 0x3000, 50, 1);
    cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    read = made_ring(0)->tail;
    cr_expect(read == made_ring(0)->head); /* there is room again at once */
    h = made_session_end();
    cr_expect(h->event_count == 1);
    free(h);
}

/* As much is behind as may be: a thread's events are read in their order all the same, not behind those of others. */
Test(heap_cases, reads_in_order_while_it_is_behind)
{
    struct made_heap *h;
    struct made_sums s;

    begin(NULL);
    made_alloc(0, MS, 0x1000, 100, 1);
    made_ring(0)->busy = 1; /* so that the other's are taken, and not yet read */
    made_free(1, 900 * MS, 0x9000);
    made_alloc(1, 900 * MS + 10, 0x1000, 200, 2);
    made_alloc(1, 901 * MS, 0x5000, 400, 2); /* no event waits so long for another thread's */
    cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    made_drain->heap->intake.behind += SFB_HEAP_BEHIND_MAX;
    made_free(0, 800 * MS, 0x1000); /* before the other one has the address */
    made_alloc(0, 800 * MS, 0x9000, 300, 1);
    made_ring(0)->busy = 0;
    cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    made_drain->heap->intake.behind -= SFB_HEAP_BEHIND_MAX;
    h = made_session_end();
    made_replay(h);
    s = made_sums_of(h);
    cr_expect(h->state.conflicts == 0, "%zu conflicts", (size_t)h->state.conflicts);
    cr_expect(h->state.unknown_frees == 0, "%zu unknown", (size_t)h->state.unknown_frees);
    cr_expect(s.allocated == 4 && s.live == 2 && s.live_bytes == 600);
    expect_no_loss(h);
    free(h);
}

/* A ring that another thread takes over: sites of the first keep their ids and sums. */
Test(heap_cases, keeps_sites_of_threads_that_have_ended)
{
    struct made_heap *h;

    begin(NULL);
    made_alloc(0, MS, 0x1000, 10, 1);
    made_thread_ends(0);
    while (made_ring(0)->state != SFB_SLOT_FREE)
        cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    made_thread(0, 0);
    made_alloc(0, 3 * MS, 0x2000, 20, 1);
    made_free(0, 4 * MS, 0x1000);
    h = made_session_end();
    made_replay(h);
    cr_expect(h->sites == 2 && h->site[1].thread == 1 && h->site[2].thread == 3);
    cr_expect(h->site[1].stack == h->site[2].stack);
    cr_expect(h->totals[1].live.blocks == 0 && h->totals[1].freed_elsewhere == 1);
    cr_expect(h->totals[2].live.bytes == 20);
    expect_no_loss(h);
    free(h);
}

/* A child has none of its parent's blocks. */
Test(heap_cases, keeps_processes_apart)
{
    struct made_heap *h;

    begin(NULL);
    made_process(1);
    made_thread(2, 1);
    made_alloc(0, MS, 0x1000, 10, 1);
    made_free(2, 2 * MS, 0x1000);
    made_stack_record(2, 3 * MS, 1);
    made_alloc(2, 4 * MS, 0x1000, 30, 1);
    h = made_session_end();
    cr_expect(h->heaps == 2 && h->sites == 2);
    cr_expect(h->state.process == 2 && h->state.unknown_frees == 1 && h->state.live.bytes == 30);
    cr_expect(h->totals[1].live.bytes == 10 && h->totals[2].live.bytes == 30);
    expect_no_loss(h);
    free(h);
}

/* Behind --max-size nothing is read any more; what is known then is in the file. */
Test(heap_cases, has_its_sums_behind_a_limit)
{
    struct made_heap *h;
    uint64_t time = MS, count = 0;

    begin(&(struct made_options){ .max_size = 100000 });
    while (sfb_recorder_drain(made_drain) == SFB_OK && count < 2000000)
        for (int i = 0; i < 2000; i++, count++)
            made_alloc(0, time += 100, 0x1000000 + 16 * count, count * count % 1000003, 1);
    cr_expect(made_shared->ended == 1);
    h = made_session_end();
    cr_expect(h->lost[SFB_LOSS_FILE] > 0);
    cr_expect(h->totals[1].allocated.blocks > h->event_count);
    cr_expect(h->state.allocated.blocks == h->totals[1].allocated.blocks);
    free(h);
}
