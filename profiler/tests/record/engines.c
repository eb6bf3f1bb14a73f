/* The agent's own engines, and what it does where the recorder has one. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/tests/record/expect.h"

static const struct record_how sampler = { .engines = 1U << SFB_ENGINE_SAMPLER };

Test(record_engines, a_sampler_thread_covers_all_threads)
{
    struct recorded *r = record(&sampler, "threads 4 60");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 240, 5);
    for (size_t i = 0; i < r->thread_count; i++)
        cr_expect_eq(r->thread[i].by_engine[SFB_ENGINE_SAMPLER], r->thread[i].samples);
    recorded_free(r);
}

/* It has no storage of the C library's, and so no samples; but its CPU time is there. */
Test(record_engines, a_sampler_thread_finds_those_of_clone)
{
    struct recorded *r = record(&sampler, "clone 400");

    expect_status(r, 0);
    cr_assert_eq(r->thread_count, 2);
    cr_expect_eq(r->thread[1].samples, 0);
    cr_expect_gt(r->thread[1].cpu_end, 0);
    recorded_free(r);
}

Test(record_engines, children_get_a_sampler_of_their_own)
{
    struct recorded *r = record(&sampler, "fork 80");

    expect_status(r, 0);
    expect_no_loss(r);
    cr_assert_eq(r->process_count, 2);
    expect_sampled(r, 0, 80, 1);
    expect_sampled(r, 1, 80, 1);
    recorded_free(r);
}

Test(record_engines, a_sampler_thread_is_not_the_last)
{
    struct recorded *r = record(&sampler, "first_ends 100");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 130, 2);
    cr_expect(r->process[0].ended);
    recorded_free(r);
}

/* The sampler's are empty above RLIMIT_SIGPENDING, and may come when nothing tells any more that they are its. */
Test(record_engines, an_empty_signal_ends_nothing_once_a_sampler_ran)
{
    struct recorded *r = record(&sampler, "gets_empty 100");

    expect_status(r, 0);
    expect_sampled(r, 0, 100, 1);
    recorded_free(r);
    r = record(NULL, "gets_empty 100"); /* where none can be the agent's */
    cr_expect(WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGPROF, "%#x", (unsigned)r->status);
    recorded_free(r);
}

/* No timer is to be had: RLIMIT_SIGPENDING is 0. */
Test(record_engines, without_timers_the_sampler_serves)
{
    struct recorded *r = record(NULL, "no_timers 100");

    expect_status(r, 0);
    cr_assert_eq(r->process_count, 2); /* it executes itself */
    expect_sampled(r, 1, 100, 1);
    cr_expect_eq(r->thread[1].lost[SFB_LOSS_NO_TIMER], 1);
    cr_expect_eq(r->thread[1].by_engine[SFB_ENGINE_SAMPLER], r->thread[1].samples);
    recorded_free(r);
}

static void say_event(struct sfb_shared *shared)
{
    struct sfb_shared_ring *ring = sfb_shared_ring(shared, SFB_SHARED_CPU_RING, 0);

    if (ring->state == SFB_SLOT_LIVE)
        ring->event = 1;
}

Test(record_engines, a_timer_stops_where_an_event_serves)
{
    struct record_how how = { .look = say_event };
    struct recorded *r = record(&how, "burn 300");

    expect_status(r, 0);
    /* One signal to see it, and those that came before the recorder said so. */
    cr_expect_leq(r->thread[0].samples, 10, "%u samples", (unsigned)r->thread[0].samples);
    recorded_free(r);
}

static void end_soon(struct sfb_shared *shared)
{
    static int turns;

    if (++turns > 10)
        shared->ended = 1;
}

Test(record_engines, nothing_is_written_after_the_end)
{
    struct record_how how = { .look = end_soon };
    struct recorded *r = record(&how, "burn 400");
    struct recorded_sum sum = recorded_sum(r, -1);

    expect_status(r, 0);
    cr_expect_leq((double)sum.weight, 300e6);
    recorded_free(r);
}

/* As if the recorder had left no more than 2 KiB. */
static void say_nearly_full(struct sfb_shared *shared)
{
    struct sfb_shared_ring *ring = sfb_shared_ring(shared, SFB_SHARED_CPU_RING, 0);

    ring->tail = 2048 - (uint64_t)SFB_SHARED_CPU_RING;
}

Test(record_engines, a_ring_that_nobody_reads_is_full_and_nothing_else)
{
    struct record_how how = { .do_not_read = true, .look = say_nearly_full };
    struct recorded *r = record(&how, "kernel 400");

    expect_status(r, 0);
    cr_assert_eq(r->thread_count, 1);
    cr_expect_gt(r->thread[0].samples, 0);
    cr_expect_gt(r->thread[0].lost[SFB_LOSS_RING_FULL], 0);
    cr_expect_leq(r->thread[0].weight, r->thread[0].cpu_end);
    recorded_free(r);
}

/* As if the recorder had read nothing for long, from the beginning. */
static void say_full(struct sfb_shared *shared)
{
    struct sfb_shared_ring *ring = sfb_shared_ring(shared, SFB_SHARED_CPU_RING, 0);

    ring->tail = -(uint64_t)SFB_SHARED_CPU_RING; /* full, be there samples already or not */
}

/* @return samples that found no room in 450 ms of CPU time */
static uint64_t lost_with(bool dies)
{
    struct record_how how = { .do_not_read = true, .look = say_full, .dies = dies };
    struct recorded *r = record(&how, "burn 450");
    uint64_t lost;

    expect_status(r, 0);
    cr_assert_eq(r->thread_count, 1);
    cr_expect_geq(r->thread[0].cpu_end, 450000000U);
    lost = r->thread[0].lost[SFB_LOSS_RING_FULL];
    recorded_free(r);
    return lost;
}

/* One that is only stopped may come back: each sample is tried. */
Test(record_engines, a_recorder_that_is_dead_is_given_up)
{
    const uint64_t stopped = lost_with(false), lost = lost_with(true);

    cr_expect_gt(stopped, 15, "%u", (unsigned)stopped);
    cr_expect_lt(lost, stopped / 2, "%u, and %u where it lives", (unsigned)lost, (unsigned)stopped);
}

/* As libfaketime: a thousand times as fast. What the recorder gets is the kernel's time. */
Test(record_engines, clocks_that_the_program_replaces_are_not_asked)
{
    static const char *const order[] = { "before the agent", "behind it" };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct record_how how = { .preload = i == 0 ? SFB_RECORD_HASTY : NULL,
                                  .preload_behind = i == 1 ? SFB_RECORD_HASTY : NULL };
        struct recorded *r = record(&how, "burn 100");
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        expect_status(r, 0);
        cr_assert_eq(r->thread_count, 1);
        cr_expect_leq(r->thread[0].start / 1000000000U, (uint64_t)now.tv_sec, "%s", order[i]);
        cr_expect_leq(r->process[0].end / 1000000000U, (uint64_t)now.tv_sec, "%s", order[i]);
        recorded_free(r);
    }
}

/* Its stack is small, and thread-local storage of libraries lies in it. */
Test(record_engines, the_sampler_has_room_for_large_storage_of_threads)
{
    const struct record_how how = { .engines = 1U << SFB_ENGINE_SAMPLER,
                                    .preload = SFB_RECORD_HASTY };
    struct recorded *r = record(&how, "burn 200");

    expect_status(r, 0);
    cr_assert_eq(r->thread_count, 1);
    cr_expect_gt(r->thread[0].samples, 0);
    recorded_free(r);
}
