/* Samples: as many as there have to be, each freed once, and estimates that are right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "profiler/tests/heap/drainer.h"
#include "support/test.h"

/* What samples stand for. */
struct estimate {
    double blocks, bytes, variance;
    uint64_t samples;
};

static struct estimate estimate(const struct heap_log *log, double rate)
{
    struct estimate sum = { 0 };

    for (size_t i = 0; i < log->event_count; i++) {
        const struct heap_event *e = &log->event[i];
        const double size = (double)e->size, p = 1 - exp(-(size + 1) / rate);

        if (e->kind != SFB_HEAP_ALLOC && e->kind != SFB_HEAP_ALLOC_REALLOC)
            continue;
        sum.samples++;
        sum.blocks += 1 / p;
        sum.bytes += size / p;
        sum.variance += size * size * (1 - p) / (p * p);
    }
    return sum;
}

Test(heap_sampled, estimates_are_right)
{
    struct heap_log *exact = heap_record(NULL, SFB_HEAP_PROGRAM " sampled 30000");
    const struct heap_replay truth = heap_replay(exact, 0);
    const double rate = 20000;
    double bytes = 0, variance = 0;
    unsigned runs = 0, near = 0;

    heap_expect_good(exact, 0);
    for (; runs < 20; runs++) {
        char seed[16];
        const struct heap_how how = { .rate = 20000, .seed = seed };
        struct heap_log *log;
        struct estimate e;

        snprintf(seed, sizeof seed, "%u", runs + 1);
        log = heap_record(&how, SFB_HEAP_PROGRAM " sampled 30000");
        heap_expect_good(log, 0);
        e = estimate(log, rate);
        cr_expect_eq(heap_replay(log, 0).conflicts, 0);
        cr_expect_eq(heap_replay(log, 0).unknown, 0); /* only samples' frees come */
        cr_expect_leq(heap_replay(log, 0).live, 4);
        bytes += e.bytes;
        variance += e.variance;
        near += fabs(e.bytes - (double)truth.allocated_bytes) < 2 * sqrt(e.variance);
        heap_log_free(log);
    }
    bytes /= runs;
    cr_expect_lt(fabs(bytes - (double)truth.allocated_bytes), 3 * sqrt(variance) / runs,
                 "%.0f instead of %.0f, and %.0f would be good", bytes,
                 (double)truth.allocated_bytes, 3 * sqrt(variance) / runs);
    cr_expect_geq(near, 15, "%u of %u within two sigma", near, runs);
    heap_log_free(exact);
}

Test(heap_sampled, are_the_same_with_the_same_seed)
{
    const struct heap_how how = { .rate = 20000, .seed = "4711" };
    struct heap_log *one = heap_record(&how, SFB_HEAP_PROGRAM " sampled 30000");
    struct heap_log *other = heap_record(&how, SFB_HEAP_PROGRAM " sampled 30000");

    heap_expect_good(one, 0);
    cr_assert_geq(one->event_count, 100);
    cr_assert_eq(one->event_count, other->event_count);
    for (size_t i = 0; i < one->event_count; i++)
        cr_expect_eq(one->event[i].size, other->event[i].size);
    heap_log_free(one);
    heap_log_free(other);
}

Test(heap_sampled, of_all_that_is_larger_than_the_rate)
{
    const struct heap_how how = { .rate = 10, .seed = "1" };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " calls");

    heap_expect_good(log, 0);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 10001), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, 10048), 1);
    cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC_REALLOC, 30005), 1);
    cr_expect_eq(heap_replay(log, 0).conflicts, 0);
    heap_log_free(log);
}

Test(heap_sampled, of_cxx_are_not_counted_twice)
{
    const struct heap_how how = { .rate = 10, .seed = "1" };
    struct heap_log *log;

    if (!*SFB_HEAP_CXX)
        cr_skip_test("there is no C++ compiler");
    log = heap_record(&how, SFB_HEAP_CXX);
    heap_expect_good(log, 0);
    for (unsigned size = 60001; size <= 60012; size++)
        cr_expect_eq(heap_count(log, SFB_HEAP_ALLOC, size), 1, "%u", size);
    cr_expect_eq(heap_replay(log, 0).unknown, 0);
    heap_log_free(log);
}

Test(heap_sampled, of_threads)
{
    const struct heap_how how = { .rate = 1000 };
    struct heap_log *log = heap_record(&how, SFB_HEAP_PROGRAM " round 4 20000");

    heap_expect_good(log, 0);
    cr_expect_geq(heap_count(log, SFB_HEAP_ALLOC, 48), 80000 / 20 * 8 / 10);
    cr_expect_leq(heap_count(log, SFB_HEAP_ALLOC, 48), 80000 / 20 * 12 / 10);
    cr_expect_eq(heap_replay(log, 0).conflicts, 0);
    cr_expect_eq(heap_replay(log, 0).unknown, 0);
    heap_log_free(log);
}

Test(heap_sampled, of_children_are_not_their_parents)
{
    const struct heap_how how = { .rate = 1000 };
    struct heap_log *log;

#ifdef SFB_EMULATED
    cr_skip_test("the emulator does not know MADV_WIPEONFORK, which tells a child of _Fork()");
#endif
    log = heap_record(&how, SFB_HEAP_PROGRAM " fork");
    heap_expect_good(log, 0);
    cr_expect_geq(log->process_count, 3);
    for (uint32_t i = 0; i < log->process_count; i++)
        cr_expect_eq(heap_replay(log, i).unknown, 0);
    heap_log_free(log);
}
