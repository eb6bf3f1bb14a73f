/* A program that links the agent in and records itself: the file is whole, and has all its threads. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/recording.h"
#include "support/run.h"

struct seen {
    unsigned processes, threads, samples, thread_ends, lists, threads_with_samples, stacks;
    uint64_t weight, cpu, losses;
    bool whole;
    char command[256];
};

static struct seen read_file(const char *path)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    struct seen seen = { 0 };
    bool sampled[64] = { false };

    cr_assert_eq(sfb_recording_reader_open(&reader, path, NULL), SFB_OK);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        seen.processes += event.kind == SFB_EVENT_PROCESS;
        seen.lists += event.kind == SFB_EVENT_MODULES;
        seen.stacks += event.kind == SFB_EVENT_STACK;
        if (event.kind == SFB_EVENT_START)
            snprintf(seen.command, sizeof seen.command, "%s", event.of.start.command);
        if (event.kind == SFB_EVENT_THREAD && event.of.thread.id > seen.threads)
            seen.threads = event.of.thread.id;
        if (event.kind == SFB_EVENT_LOSSES)
            seen.losses += event.of.losses.reason == SFB_LOSS_LATE ? 0 : event.of.losses.count;
        if (event.kind == SFB_EVENT_THREAD_END) {
            seen.thread_ends++;
            seen.cpu += event.of.thread_end.cpu_ns;
        }
        if (event.kind != SFB_EVENT_SAMPLE)
            continue;
        seen.samples++;
        seen.weight += event.of.sample.weight;
        if (event.of.sample.thread < 64 && !sampled[event.of.sample.thread]) {
            sampled[event.of.sample.thread] = true;
            seen.threads_with_samples++;
        }
    }
    sfb_recording_reader_health(reader, &health);
    seen.whole = health.finished && health.skipped == 0 && health.bad_blocks == 0 &&
                 health.torn == 0 && health.lost_records == 0 && health.bad_records == 0;
    sfb_recording_reader_close(reader);
    return seen;
}

static struct seen record_mode(const char *mode)
{
    char file[] = "/tmp/sfb-linked-XXXXXX";
    struct run run;
    struct seen seen;

    close(mkstemp(file));
    run = run_line("'%s' '%s' %s %s", SFB_EMULATE, SFB_RECORD_LINKED, file, mode);
    cr_assert_eq(run.status, 0, "%s: %d %s", mode, run.status, run.err);
    run_free(&run);
    seen = read_file(file);
    unlink(file);
    cr_expect(seen.whole, "%s", mode);
    cr_expect_eq(seen.losses, 0);
    cr_expect_leq(seen.weight, seen.cpu);
    return seen;
}

Test(record_linked, threads_before_and_behind_the_start_are_recorded)
{
    struct seen seen = record_mode("whole");

    cr_expect_eq(seen.processes, 1);
    cr_expect_eq(seen.threads, 3);
    cr_expect_eq(seen.thread_ends, 3);
    cr_expect_eq(seen.threads_with_samples, 3);
    cr_expect_geq(seen.cpu, 400000000U, "%f ms", (double)seen.cpu / 1e6);
    cr_expect_geq(seen.lists, 1);
    cr_expect_not_null(strstr(seen.command, "record-linked"), "%s", seen.command);
}

Test(record_linked, a_second_recording_has_the_threads_of_the_first)
{
    struct seen seen = record_mode("twice");

    cr_expect_eq(seen.threads, 2);
    cr_expect_eq(seen.threads_with_samples, 2);
}

Test(record_linked, handler_and_mask_stay_the_programs)
{
    record_mode("handler");
}

Test(record_linked, a_thread_that_ended_in_between_takes_nothing_along)
{
    struct seen seen = record_mode("fewer");

    cr_expect_eq(seen.threads, 4);
    cr_expect_eq(seen.threads_with_samples, 4);
}

Test(record_linked, exit_stops_it)
{
    struct seen seen = record_mode("no_stop");

    cr_expect_eq(seen.threads, 1);
    cr_expect_geq(seen.cpu, 150000000U);
}

Test(record_linked, the_end_of_the_last_thread_stops_it)
{
    struct seen seen = record_mode("first_ends");

    cr_expect_eq(seen.threads, 1);
    cr_expect_geq(seen.cpu, 100000000U);
}

Test(record_linked, many_recordings_use_the_memory_of_one)
{
    record_mode("often");
}

Test(record_linked, children_are_in_the_same_file)
{
    struct seen seen = record_mode("child");

    cr_expect_eq(seen.processes, 2);
    cr_expect_eq(seen.threads, 2);
    cr_expect_geq(seen.cpu, 100000000U);
}

Test(record_linked, a_filter_of_before_sees_no_call_for_ctl)
{
    struct seen seen = record_mode("filtered");

    cr_expect_eq(seen.threads, 1);
    cr_expect_geq(seen.cpu, 100000000U);
}

Test(record_linked, what_is_wrong_is_refused)
{
    struct run run = run_line("'%s' '%s' /dev/null refuses", SFB_EMULATE, SFB_RECORD_LINKED);

    cr_expect_eq(run.status, 0, "%d", run.status);
    run_free(&run);
}
