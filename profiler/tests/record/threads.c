/* Threads of a recorded program, each with its ring: all their CPU time is in it. */
#include <criterion/criterion.h>
#include <string.h>

#include "profiler/tests/record/expect.h"

/* Stacks that may be cut off: the first sample may be the loader's. In the emulator there were more, once in six runs. */
#ifdef SFB_EMULATED
enum { CUT_OFF_MAX = 3 };
#else
enum { CUT_OFF_MAX = 1 };
#endif

Test(record_threads, first_thread_is_sampled)
{
    struct recorded *r = record(NULL, "burn 200");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 200, 1);
    cr_assert_eq(r->process_count, 1);
    cr_expect(r->process[0].ended);
    cr_expect(r->thread[0].ended);
    cr_expect_eq(r->thread[0].engine, SFB_ENGINE_TIMER);
    cr_expect_geq(r->process[0].list_count, 1);
    cr_expect_geq(sum.whole + CUT_OFF_MAX, sum.samples, "%zu of %zu are whole", (size_t)sum.whole,
                  (size_t)sum.samples);
    cr_expect_not_null(strstr(r->process[0].program, "record-program"), "%s",
                       r->process[0].program);
    cr_expect_not_null(strstr(r->process[0].arguments, " burn 200 "), "%s",
                       r->process[0].arguments);
    cr_expect_geq(r->process[0].cpu_end - r->process[0].cpu_start, sum.cpu);
    recorded_free(r);
}

Test(record_threads, work_of_the_kernel_is_sampled)
{
    struct recorded *r = record(NULL, "kernel 200");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 200, 1);
    recorded_free(r);
}

/* The way there is long: a walk may be left out. */
Test(record_threads, a_deep_stack_keeps_its_outermost_frames)
{
    struct recorded *r = record(NULL, "deep 20000");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 100, 1);
    cr_expect_gt(20 * sum.whole, sum.samples, "%u of %u", (unsigned)sum.whole,
                 (unsigned)sum.samples);
    recorded_free(r);
}

Test(record_threads, a_stack_of_some_hundred_frames_is_whole)
{
    struct recorded *r = record(NULL, "deep 600");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    expect_sampled(r, 0, 100, 1);
    cr_expect_geq(sum.whole + 1, sum.samples);
    recorded_free(r);
}

Test(record_threads, those_of_pthread_create_are_sampled)
{
    struct recorded *r = record(NULL, "threads 8 40");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 320, 9);
    cr_expect_geq(sum.whole + 2, sum.samples);
    for (size_t i = 0; i < r->thread_count; i++)
        cr_expect(r->thread[i].ended);
    recorded_free(r);
}

Test(record_threads, those_of_thrd_create_are_sampled)
{
    struct recorded *r = record(NULL, "c11 100");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 100, 2);
    recorded_free(r);
}

Test(record_threads, attributes_are_the_programs)
{
    struct recorded *r = record(NULL, "attributes 100");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 100, 2);
    cr_expect_geq(sum.whole + 1, sum.samples);
    recorded_free(r);
}

Test(record_threads, a_storm_of_short_ones_is_counted)
{
    struct recorded *r = record(NULL, "storm 2000 100");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    expect_no_loss(r);
    cr_expect_eq(sum.threads, 2001);
    cr_expect_geq(sum.cpu, 200000000U);
    cr_expect_leq(sum.cpu, r->process[0].cpu_end - r->process[0].cpu_start);
    /* None of them reaches a tick for sure, but of all of them some do: the first expiry is random. */
    cr_expect_geq(sum.samples, 1);
    recorded_free(r);
}

Test(record_threads, names_are_read_at_the_end)
{
    struct recorded *r = record(NULL, "names 30");

    expect_status(r, 0);
    cr_assert_eq(r->thread_count, 2);
    cr_expect_neq(r->thread[0].name[0], 0); /* an emulator's in an emulator */
    cr_expect_str_eq(r->thread[1].name, r->thread[0].name);
    cr_expect_str_eq(r->thread[1].last_name, "second name");
    recorded_free(r);
}

Test(record_threads, work_in_destructors_is_sampled)
{
    struct recorded *r = record(NULL, "destructors");

    expect_status(r, 0);
    cr_assert_eq(r->thread_count, 2);
    /* Of three rounds the last may come behind ours. */
    cr_expect_geq(r->thread[1].cpu_end, 20000000U, "%f ms", (double)r->thread[1].cpu_end / 1e6);
    recorded_free(r);
}

Test(record_threads, the_first_may_end_before_others)
{
    struct recorded *r = record(NULL, "first_ends 100");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 130, 2);
    cr_expect(r->process[0].ended);
    recorded_free(r);
}

Test(record_threads, those_that_live_at_the_end_are_ended)
{
    struct recorded *r = record(NULL, "others_live 40");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 120, 4);
    for (size_t i = 0; i < r->thread_count; i++)
        cr_expect(r->thread[i].ended && r->thread[i].cpu_end > 0);
    recorded_free(r);
}
