/* A recorder that is slow, or gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/heap/drainer.h"
#include "support/test.h"

enum { PAIRS = 20000 }; /* 48 bytes each: four rings full */

/* Asked to wait, it waits longer than it else may, and nothing is lost. */
Test(heap_limits, wait_for_a_recorder_that_is_slow)
{
    const struct heap_how how = { .reading = HEAP_READ_AFTER_WAITING };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " full 200000");

    cr_assert(heap_exited(log, 0));
    cr_expect_geq(heap_lost(log, SFB_LOSS_HEAP_WAITS), 1);
    cr_expect_eq(heap_lost(log, SFB_LOSS_HEAP_EVENTS), 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 555), 200000);
    cr_expect_eq(heap_replay(log, 0).conflicts, 0);
    heap_log_free(log);
}

/* More threads than rings, of which all but one have ended: their rings come back when the recorder runs. */
Test(heap_limits, wait_for_a_ring)
{
    enum { THREADS = SFB_SHARED_RING_MAX + 100 };
    const struct heap_how how = { .reading = HEAP_READ_AFTER_WAITING };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " threads 1124");

    cr_assert(heap_exited(log, 0));
    cr_expect_geq(heap_lost(log, SFB_LOSS_HEAP_WAITS), 1);
    cr_expect_eq(heap_lost(log, SFB_LOSS_NO_RING), 0);
    cr_expect_eq(heap_lost(log, SFB_LOSS_HEAP_EVENTS), 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 777), THREADS);
    cr_expect_eq(log->thread_count, THREADS + 1);
    heap_log_free(log);
}

Test(heap_limits, lose_and_count_what_nobody_reads)
{
    const struct heap_how how = { .reading = HEAP_READ_AT_THE_END };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " full 20000");
    uint64_t lost = heap_lost(log, SFB_LOSS_HEAP_EVENTS);
    uint64_t seen = heap_count(log, SFB_HEAP_ALLOC, 555);

    cr_assert(heap_exited(log, 0));
    cr_expect_geq(heap_lost(log, SFB_LOSS_HEAP_WAITS), 1);
    cr_expect_leq(heap_lost(log, SFB_LOSS_HEAP_WAITS), 50); /* not at each event */
    cr_expect_geq(seen, 1000);
    cr_expect_geq(lost + 1, 2 * (PAIRS - seen), "%u seen, %u lost", (unsigned)seen, (unsigned)lost);
    cr_expect_leq(lost, 2 * (PAIRS - seen) + 8, "%u seen, %u lost", (unsigned)seen, (unsigned)lost);
    heap_log_free(log);
}

Test(heap_limits, are_silent_where_nobody_is_there)
{
    enum { MANY = 2000000 };
    const struct heap_how how = { .reading = HEAP_READ_AT_THE_END, .gone = true };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " full 2000000");
    const uint64_t lost = heap_lost(log, SFB_LOSS_HEAP_EVENTS);

    cr_assert(heap_exited(log, 0));
    cr_expect_leq(lost, MANY / 5, "%u lost: those before its death", (unsigned)lost);
    heap_log_free(log);
}
