/* The shared memory is the program's: whatever is in it, the recording is whole, and says what was wrong. */
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/heap_drain/made_session.h"
#include "support/test.h"

enum { MS = 1000000 };

static const struct {
    const char *name;
    uint32_t kind;
    uint64_t words[3];
    size_t count;
    const char *says; /* NULL: nothing is wrong with it */
} records[] = {
    { "an unknown kind", 12, { 0 }, 1, "an unknown record of the heap" },
    { "kind 0", 0, { 0 }, 1, "an unknown record of the heap" },
    { "kind 255", 255, { 0 }, 1, "an unknown record of the heap" },
    { "half an allocation", SFB_HEAP_ALLOC, { 0x1000 }, 1, "an unknown record of the heap" },
    { "a block at 0", SFB_HEAP_ALLOC, { 0, 8, 1 }, 3, "a block lies at 0" },
    { "a free at 0", SFB_HEAP_FREE, { 0 }, 1, "a block lies at 0" },
    { "a hash that was not sent", SFB_HEAP_ALLOC, { 16, 8, 77 }, 3, "that was not sent" },
    { "no stack", SFB_HEAP_ALLOC, { 16, 8, 0 }, 3, NULL },
    { "a large block", SFB_HEAP_ALLOC, { 16, UINT64_MAX, 1 }, 3, NULL },
    { "a mapping beyond all", SFB_HEAP_ALLOC_MMAP, { UINT64_MAX - 5, 16, 1 }, 3, "impossible" },
    { "a mapping of nothing", SFB_HEAP_ALLOC_MMAP, { 16, 0, 1 }, 3, "impossible" },
    { "all is unmapped", SFB_HEAP_FREE_MMAP, { 1, UINT64_MAX - 1 }, 2, NULL },
    { "more is unmapped", SFB_HEAP_FREE_MMAP, { 2, UINT64_MAX - 1 }, 2, "impossible" },
    { "a stack beyond the ring", SFB_HEAP_STACK, { 7, 0xffffffff }, 2, "larger than its ring" },
    { "a stack that is none", SFB_HEAP_STACK, { 7, 8, 0x1234 }, 3, "cannot be decoded" },
    { "a stack without a name", SFB_HEAP_STACK, { 0, 8, 0 }, 3, "cannot be decoded" },
    { "calls beyond the ring",
      SFB_HEAP_STACK,
      { 7, 8 | 9 << SFB_HEAP_CALLS_SHIFT, 1 },
      3,
      "larger than" },
    { "a function beyond the ring", SFB_HEAP_CODE, { 7, 9, UINT32_MAX }, 3, "larger than" },
    { "a function without a key", SFB_HEAP_CODE, { 0, 9, 0 }, 3, "impossible" },
    { "a function without a name", SFB_HEAP_CODE, { 7, 9, 0 }, 3, NULL },
    { "a name without an end", SFB_HEAP_NAME, { UINT64_MAX, UINT64_MAX }, 2, NULL },
    { "a failure of nothing", SFB_HEAP_REALLOC_FAILED, { 0x1000 }, 1, NULL },
    { "realloc() of nothing", SFB_HEAP_FREE_REALLOC, { 0x1000 }, 1, NULL },
};

Test(heap_hostile, judges_each_record)
{
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct made_heap *h;

        made_session_begin(&(struct made_options){ 0 });
        made_process(0);
        made_thread(0, 0);
        made_stack_record(0, 5, 1);
        made_record(0, MS, records[i].kind, records[i].words, records[i].count);
        made_publish(0);
        cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
        made_alloc(0, 2 * MS, 0x777000, 5, 1); /* it goes on */
        h = made_session_end();
        made_replay(h);
        cr_expect(h->lost[SFB_LOSS_BAD_RING] == (records[i].says != NULL), "%s: %s",
                  records[i].name, h->why);
        cr_expect(strstr(h->why, records[i].says ? records[i].says : "") != NULL, "%s: %s",
                  records[i].name, h->why);
        cr_expect(h->event_count >= 1 && h->events[h->event_count - 1].size == 5, "%s",
                  records[i].name);
        free(h);
    }
}

/* Calls of the function with the key 7. */
static const struct {
    const char *name;
    size_t count;
    struct sfb_shared_call calls[2];
    const char *says;
} stacks[] = {
    { "a function and its caller", 2, { { 7, 2, 0 }, { 7, 4, 0 } }, NULL },
    { "a function that was not sent", 2, { { 8, 2, 0 }, { 7, 4, 0 } }, NULL },
    { "a caller further in", 2, { { 7, 2, 1 }, { 7, 4, 0 } }, "out of order" },
    { "more calls than there can be", SFB_SHARED_CALLS_MAX + 1, { { 7, 2, 0 } }, "impossible" },
};

Test(heap_hostile, judges_calls_of_python)
{
    static struct sfb_shared_call calls[SFB_SHARED_CALLS_MAX + 1];

    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        struct made_heap *h;

        made_session_begin(&(struct made_options){ 0 });
        made_process(0);
        made_thread(0, 0);
        made_record(0, 3, SFB_HEAP_CODE, (const uint64_t[]){ 7, 9, 0 }, 3);
        memcpy(calls, stacks[i].calls, sizeof stacks[i].calls);
        made_stack_with_calls(0, 5, 1, calls, stacks[i].count);
        made_stack_record(0, 5, 2);
        made_alloc(0, 2 * MS, 0x777000, 5, 2); /* it goes on */
        h = made_session_end();
        made_replay(h);
        cr_expect(h->lost[SFB_LOSS_BAD_RING] == (stacks[i].says != NULL), "%s: %s", stacks[i].name,
                  h->why);
        cr_expect(strstr(h->why, stacks[i].says ? stacks[i].says : "") != NULL, "%s: %s",
                  stacks[i].name, h->why);
        cr_expect(h->event_count == 1, "%s", stacks[i].name);
        free(h);
    }
}

/* What is wrong a thousand times is told of once or twice: the file does not grow with it. */
Test(heap_hostile, tells_of_many_at_once)
{
    enum { MANY = 5000 };
    struct made_heap *h;

    made_session_begin(&(struct made_options){ 0 });
    made_process(0);
    made_thread(0, 0);
    for (uint64_t i = 0; i < MANY; i++) {
        made_free(0, MS + i, 0);
        if (i % 1000 == 0)
            cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
    }
    h = made_session_end();
    cr_expect(h->lost[SFB_LOSS_BAD_RING] == MANY, "%zu", (size_t)h->lost[SFB_LOSS_BAD_RING]);
    cr_expect(h->loss_records < 10, "%zu", (size_t)h->loss_records);
    free(h);
}

/* A time that cannot be is that of the record before. */
Test(heap_hostile, believes_no_time)
{
    static const uint64_t times[] = { 0, 1, 3 * (uint64_t)MS, UINT64_MAX >> 8,
                                      (uint64_t)3600 * 1000 * MS };
    struct made_heap *h;

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        made_session_begin(&(struct made_options){ 0 });
        made_process(0);
        made_thread(0, 0);
        made_thread(1, 0);
        made_alloc(0, 5 * MS, 0x1000, 10, 0);
        made_free(0, times[i], 0x1000);
        made_alloc(1, 6 * MS, 0x1000, 20, 0);
        h = made_session_end();
        made_replay(h);
        cr_expect(h->event_count == 3 && h->state.conflicts + h->state.unknown_frees == 0, "%zu",
                  i);
        cr_expect(h->state.live.bytes == 20);
        free(h);
    }
}

Test(heap_hostile, takes_no_position_that_cannot_be)
{
    static const uint64_t heads[] = { 7, UINT64_MAX, SFB_SHARED_HEAP_RING + 8, UINT64_C(1) << 63 };

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct made_heap *h;

        made_session_begin(&(struct made_options){ 0 });
        made_process(0);
        made_thread(0, 0);
        made_ring(0)->head = heads[i];
        cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
        h = made_session_end();
        cr_expect(h->lost[SFB_LOSS_BAD_RING] >= 1, "%zu", i);
        cr_expect(h->event_count == 0);
        free(h);
    }
}

/* Anything at all: nothing is freed that does not live, and sums are those of the events. */
Test(heap_hostile, survives_anything)
{
    uint64_t random = 88172645463325252;

    for (unsigned round = 0; round < 300; round++) {
        struct made_heap *h;

        made_session_begin(&(struct made_options){ .rate = 0 });
        made_process(0);
        for (uint32_t t = 0; t < 3; t++) {
            made_thread(t, 0);
            made_stack_record(t, 5, 1);
        }
        for (unsigned i = 0; i < 600; i++) {
            uint64_t words[3];
            uint32_t kind;

            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            kind = round % 3 == 0 ? (uint32_t)(random >> 8 & 15) : 3 + (uint32_t)(random >> 8 & 7);
            words[0] = 0x1000 + 0x10 * (random >> 16 & 7);
            words[1] = random >> 20 & 0xff;
            words[2] = random >> 30 & 1;
            made_record((uint32_t)(random >> 40) % 3, MS + (random >> 44 & 0xfffff), kind, words,
                        kind <= 5                 ? 3
                        : kind == 8 || kind == 10 ? 2
                                                  : 1);
            if (i % 64 == 0) {
                for (uint32_t t = 0; t < 3; t++)
                    made_publish(t);
                made_ring(random >> 50 & 1)->busy = random >> 51 & 1;
                cr_assert_eq(sfb_recorder_drain(made_drain), SFB_OK);
            }
        }
        h = made_session_end();
        made_replay(h);
        free(h);
    }
}
