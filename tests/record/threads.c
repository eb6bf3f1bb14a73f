/* Threads of a recorded program, each with its ring: all their CPU time is in it. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/wait.h>

#include "record/recorder.h"

TestSuite(record_threads, .timeout = 60);

static void expect_good_end(const struct recorded *r)
{
    cr_expect(WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0, "status %#x",
              (unsigned)r->status);
    for (size_t i = 0; i < r->process_count; i++)
        for (size_t k = 0; k < SFB_LOSS_COUNT; k++)
            cr_expect_eq(r->process[i].lost[k], 0, "process %zu lost %zu", i, k);
}

/* The sum of weights is the CPU time, but for what comes behind each thread's last sample. */
static void expect_weights(const struct recorded_sum *sum, double ms, uint64_t threads)
{
    double period = 4e6 * 1.1 + 1e6;

    cr_expect_geq((double)sum->cpu, ms * 1e6, "%f", (double)sum->cpu);
    cr_expect_leq(sum->weight, sum->cpu);
    cr_expect_leq((double)(sum->cpu - sum->weight), (double)threads * period * 3);
    cr_expect_eq(sum->threads, threads);
    cr_expect_geq((double)sum->samples, ms / 10 * 0.5, "%u samples", (unsigned)sum->samples);
    cr_expect_eq(sum->lost, 0);
}

Test(record_threads, first_thread_is_sampled)
{
    struct recorded *r = record(NULL, "burn 300");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_good_end(r);
    expect_weights(&sum, 300, 1);
    cr_assert_eq(r->process_count, 1);
    cr_expect(r->process[0].ended);
    cr_expect(r->thread[0].ended);
    cr_expect_eq(r->thread[0].engine, SFB_ENGINE_TIMER);
    cr_expect_geq(r->process[0].list_count, 1);
    cr_expect_eq(sum.whole, sum.samples);
    cr_expect_not_null(strstr(r->process[0].program, "record-program"), "%s",
                       r->process[0].program);
    cr_expect_not_null(strstr(r->process[0].arguments, " burn 300 "), "%s",
                       r->process[0].arguments);
    cr_expect_geq(r->process[0].cpu_end - r->process[0].cpu_start, sum.cpu);
    recorded_free(r);
}

Test(record_threads, those_of_pthread_create_are_sampled)
{
    struct recorded *r = record(NULL, "threads 8 50");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_good_end(r);
    expect_weights(&sum, 400, 9);
    for (size_t i = 0; i < r->thread_count; i++)
        cr_expect(r->thread[i].ended);
    recorded_free(r);
}

Test(record_threads, a_storm_of_short_ones_is_counted)
{
    struct recorded *r = record(NULL, "storm 2000 100");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_good_end(r);
    cr_expect_eq(sum.threads, 2001);
    cr_expect_geq(sum.cpu, 200000000U);
    cr_expect_leq(sum.cpu, r->process[0].cpu_end - r->process[0].cpu_start);
    recorded_free(r);
}
