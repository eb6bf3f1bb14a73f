/* Threads of which everything is known: what the drain makes of their rings is that, to the unit. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/collector/heap/heap_weight.h"
#include "profiler/tests/heap_drain/made_session.h"
#include "support/test.h"

enum { THREADS = 6, BLOCKS = 300, STACKS = 5 };

struct model_site {
    uint64_t allocated, allocated_bytes, live, live_bytes, peak_bytes, temporary, elsewhere;
    uint64_t sizes[SFB_HEAP_CLASSES], lifetimes[SFB_HEAP_CLASSES];
};

static struct {
    struct model_site site[THREADS][STACKS];
    struct {
        bool lives;
        uint64_t size, time;
        uint32_t thread, stack;
    } block[BLOCKS];
    uint32_t last[THREADS]; /* block that its last event allocated, + 1 */
    uint64_t live, peak, peak_time, events;
} model;

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static void note_peak(uint64_t time)
{
    if (model.live <= model.peak)
        return;
    model.peak = model.live;
    model.peak_time = time;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned s = 0; s < STACKS; s++)
            model.site[t][s].peak_bytes = model.site[t][s].live_bytes;
}

static uint64_t address_of(uint32_t block)
{
    return 0x7f0000000000 + 48 * (uint64_t)block;
}

static void allocate(uint32_t thread, uint32_t block, uint64_t time)
{
    const uint64_t size = random_below(8) == 0 ? random_below(100000) : 8 * random_below(20);
    const uint32_t stack = (uint32_t)random_below(STACKS);
    struct model_site *site = &model.site[thread][stack];

    model.block[block].lives = true;
    model.block[block].size = size;
    model.block[block].time = time;
    model.block[block].thread = thread;
    model.block[block].stack = stack;
    site->allocated++;
    site->allocated_bytes += size;
    site->live++;
    site->live_bytes += size;
    site->sizes[sfb_heap_class(size)]++;
    model.live += size;
    note_peak(time);
    model.last[thread] = block + 1;
    made_alloc(thread, time, address_of(block), size, 1 + stack);
}

static void release(uint32_t thread, uint32_t block, uint64_t time)
{
    struct model_site *site = &model.site[model.block[block].thread][model.block[block].stack];

    model.block[block].lives = false;
    site->live--;
    site->live_bytes -= model.block[block].size;
    site->lifetimes[sfb_heap_class(time - model.block[block].time)]++;
    site->elsewhere += thread != model.block[block].thread;
    site->temporary += model.last[thread] == block + 1;
    model.live -= model.block[block].size;
    model.last[thread] = 0;
    made_free(thread, time, address_of(block));
}

/* A thread that is stopped between its clock and its head: what it writes is not seen for a while. */
static struct {
    uint32_t thread;
    uint64_t head, events; /* 0: nobody is */
} held;

static void let_go(void)
{
    held.events = 0;
    made_publish(held.thread);
    made_ring(held.thread)->busy = 0;
}

static void hold(uint32_t thread, uint64_t head)
{
    held.thread = thread;
    held.head = head;
    held.events = 1 + random_below(100);
    made_ring(thread)->busy = 1;
}

/* Any thread does anything with any block: each is passed round, and its address given out again at once. */
static void act(uint64_t events, bool holds)
{
    static const struct timespec pause = { .tv_nsec = 12000000 };
    uint64_t time = 0, now;

    memset(&model, 0, sizeof model);
    for (uint32_t t = 0; t < THREADS; t++) {
        made_thread(t, 0);
        for (uint64_t s = 1; s <= STACKS; s++)
            made_stack_record(t, t * 100 + s, s);
    }
    for (uint64_t i = 0; i < events; i++) {
        const uint32_t thread = (uint32_t)random_below(THREADS);
        const uint32_t block = (uint32_t)random_below(BLOCKS);
        const uint64_t head = made_ring(thread)->head;

        if (i % 5000 == 0)
            nanosleep(&pause, NULL); /* a step of the time line is 10 ms: there are some */
        if (holds && held.events == 0 && random_below(50) == 0)
            hold(thread, head);
        now = made_now();
        time = now > time ? now : time + 1;
        if (model.block[block].lives)
            release(thread, block, time);
        else
            allocate(thread, block, time);
        if (held.events > 0)
            __atomic_store_n(&made_ring(held.thread)->head, held.head, __ATOMIC_RELEASE);
        if (held.events > 0 && (--held.events == 0 || made_room(held.thread) < 10000))
            let_go();
        if (random_below(200) == 0 || made_room(thread) < 10000)
            cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    }
    if (held.events > 0)
        let_go();
    model.events = events;
}

static void compare(const struct made_heap *h)
{
    uint32_t seen = 0;

    for (uint32_t i = 1; i <= h->sites; i++) {
        const struct sfb_recording_heap_totals *t = &h->totals[i];
        const struct model_site *m = &model.site[h->site[i].thread - 1][h->site[i].stack - 1];

        seen++;
        cr_expect(t->allocated.blocks == m->allocated && t->allocated.bytes == m->allocated_bytes,
                  "site %u: allocated", i);
        cr_expect(t->allocated.samples == m->allocated && t->allocated.bytes_variance == 0);
        cr_expect(t->live.blocks == m->live && t->live.bytes == m->live_bytes, "site %u: live", i);
        cr_expect(t->peak.bytes == m->peak_bytes, "site %u: peak %zu of %zu", i,
                  (size_t)t->peak.bytes, (size_t)m->peak_bytes);
        cr_expect(t->temporary.blocks == m->temporary, "site %u: temporary", i);
        cr_expect(t->freed_elsewhere == m->elsewhere, "site %u: elsewhere", i);
        cr_expect(memcmp(t->sizes, m->sizes, sizeof m->sizes) == 0, "site %u: sizes", i);
        cr_expect(memcmp(t->lifetimes, m->lifetimes, sizeof m->lifetimes) == 0,
                  "site %u: lifetimes", i);
    }
    cr_expect(seen == THREADS * STACKS);
    cr_expect(h->state.live.bytes == model.live && h->state.peak.bytes == model.peak);
    cr_expect(h->state.unknown_frees == 0 && h->state.conflicts == 0, "%zu, %zu",
              (size_t)h->state.unknown_frees, (size_t)h->state.conflicts);
    for (unsigned i = 0; i < SFB_LOSS_COUNT; i++)
        cr_expect(h->lost[i] == 0, "%s: %s", sfb_recording_loss_str(i), h->why);
}

Test(heap_drain, tells_the_truth_of_threads_that_pass_blocks_round)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct made_heap *h;

        random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
        made_session_begin(&(struct made_options){ .temporary_within = 1 });
        made_process(0);
        act(20000, true);
        h = made_session_end();
        compare(h);
        made_replay(h);
        cr_expect(h->event_count == model.events);
        cr_expect(h->states >= 2);
        cr_expect(h->heap.process == 1 && h->heap.rate == 0 && h->heaps == 1);
        free(h);
    }
}

/* Sums alone say the same; there are no events. */
Test(heap_drain, tells_the_same_in_sums_alone)
{
    struct made_heap *h;

    random_state = 4711;
    made_session_begin(
        &(struct made_options){ .aggregate = true, .snapshot_ns = 1000000, .temporary_within = 1 });
    made_process(0);
    act(20000, true);
    cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    h = made_session_end();
    compare(h);
    cr_expect(h->event_count == 0 && h->heap.flags == SFB_HEAP_AGGREGATE);
    cr_expect(h->totals_count > 2 * h->sites); /* of snapshots, too */
    free(h);
}

/* A thread that empties rings as they fill: nobody waits for the one that reads. */
Test(heap_drain, empties_rings_while_it_reads)
{
    struct made_heap *h;

    random_state = 815;
    made_session_begin(&(struct made_options){ .own_thread = true, .temporary_within = 1 });
    made_process(0);
    act(200000, false);
    h = made_session_end();
    compare(h);
    made_replay(h);
    cr_expect(h->event_count == model.events);
    free(h);
}
