/* What was not recorded, as asked for: of several recordings by thread, of merged ones by input and where all of them paused. */
#include <stdio.h>
#include <string.h>

#include "profiler/tests/report/made.h"
#include "support/folder.h"
#include "support/pprof_read.h"
#include "support/run.h"
#include "support/test.h"

static const uint64_t ms = 1000000;

struct span {
    unsigned from, to; /* ms; 0: to the end */
};

/*
 * Writes a recording of 2.5 s: its thread waits from 0 to 2.5 s, without the pauses.
 *
 * @param late    ms after the other's beginning
 * @param pauses  ends with an empty one
 */
static void record(const char *name, unsigned late, const char *program, const struct span *pauses)
{
    struct sfb_recording_start start = made_start;
    const struct sfb_recording_process process = {
        .id = 1, .pid = 101, .time = start.monotonic, .program = program
    };
    unsigned from = 0;

    start.realtime += late * ms;
    made_begin_as(&start);
    cr_assert(eq(int, sfb_recording_put_process(made_writer, &process), SFB_OK));
    made_thread(1, 1, program);
    for (bool more = true; more; pauses++) {
        const unsigned to = pauses->from == pauses->to ? 2500 : pauses->from;
        const struct sfb_recording_wait wait = { .thread = 1,
                                                 .time = start.monotonic + to * ms,
                                                 .weight = (to - from) * ms,
                                                 .state = SFB_STATE_ASLEEP,
                                                 .call = "wait4" };
        const struct sfb_recording_pause begin = { start.monotonic + pauses->from * ms, 1, 0 },
                                         end = { start.monotonic + pauses->to * ms, 0, 0 };

        if (to > from)
            cr_assert(eq(int, sfb_recording_put_wait(made_writer, &wait), SFB_OK));
        more = pauses->from != pauses->to;
        if (more)
            cr_assert(eq(int, sfb_recording_put_pause(made_writer, &begin), SFB_OK));
        if (more && pauses->to > 0)
            cr_assert(eq(int, sfb_recording_put_pause(made_writer, &end), SFB_OK));
        more = more && pauses->to > 0;
        from = pauses->to;
    }
    made_end("the program ended");
    cr_assert(eq(int, rename(made_path, name), 0));
}

/* a: 0 to 2.5 s, b: 1 to 3.5 s on the clock of a. */
static void make(void)
{
    folder_enter();
    record("a", 0, "/bin/a", (struct span[]){ { 500, 1000 }, { 2000, 0 } });
    record("b", 1000, "/bin/b", (struct span[]){ { 0, 1200 }, { 0, 0 } });
    record("none", 0, "/bin/none", (struct span[]){ { 0, 0 } });
}

TestSuite(pauses, .init = make, .fini = folder_remove);

static void expect(const char *line, const char *want)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    run_expect_text(line, run.out, want);
    run_expect_text("complaints", run.err, "");
    run_free(&run);
}

static void expect_duration(const char *recording, int64_t want)
{
    struct run run = run_line("'%s' report --pprof=- %s", SFB_TOOL, recording);
    struct pprof_file file;

    cr_assert(pprof_read(&file, run.out, run.out_size), "%s", file.fault);
    cr_expect(eq(i64, file.duration, want), "%s", recording);
    pprof_free(&file);
    run_free(&run);
}

#define LINES " | grep 'not recorded'"

Test(pauses, of_one_recording_stay)
{
    for (unsigned i = 0; i < 2; i++) {
        expect(i == 0 ? "$SFB merge -o m a" : "$SFB merge -o n m && mv n m", "");
        expect("$SFB report m" LINES,
               "  not recorded, as asked for: 1.000 s, from 0.500 to 1.000 s, "
               "2.000 to the end\n");
        expect_duration("m", 1500000000);
    }
}

/* From 1.0 to 2.0 s a ran, while b was paused; from 2.2 s on b, while a was. */
Test(pauses, of_inputs_stay_by_input)
{
    static const char want[] =
        "  not recorded, as asked for: 0.700 s, from 0.500 to 1.000 s, 2.000 to 2.200 s\n"
        "  not recorded while others were, as asked for: 0.300 s of input 1, from 0.500 to 1.000 "
        "s, "
        "2.000 to 2.500 s\n"
        "  not recorded while others were, as asked for: 1.000 s of input 2, from 1.000 to 2.200 "
        "s\n";

    for (unsigned i = 0; i < 2; i++) {
        expect(i == 0 ? "$SFB merge -o m a b" : "$SFB merge -o n m && mv n m", "");
        expect("$SFB report m" LINES, want);
        expect_duration("m", 3500000000 - 700000000);
    }
    /* Inputs of an input that was merged have the numbers behind those before it. */
    expect("$SFB merge -o n none m && $SFB report n" LINES,
           "  not recorded while others were, as asked for: 1.000 s of input 2, from 0.500 to "
           "1.000 s, "
           "2.000 to 2.500 s\n"
           "  not recorded while others were, as asked for: 1.200 s of input 3, from 1.000 to "
           "2.200 s\n");
}

static void pause_part(unsigned at, uint32_t paused, uint32_t part)
{
    const struct sfb_recording_pause pause = { made_start.monotonic + at * ms, paused, part };

    cr_assert(eq(int, sfb_recording_put_pause(made_writer, &pause), SFB_OK));
}

/* A damaged file has one pause twice, and the last number that an input may have. */
Test(pauses, of_a_damaged_file_are_no_more_than_its_time)
{
    made_begin();
    MADE_WAIT(2500, 100, ASLEEP, "wait4", .thread = 1);
    for (unsigned i = 0; i < 2; i++) {
        pause_part(500, 1, 0);
        pause_part(1000, 0, 0);
    }
    pause_part(400, 1, UINT32_MAX - 1);
    pause_part(1000, 0, UINT32_MAX - 1);
    made_end("the program ended");
    cr_assert(eq(int, rename(made_path, "bad"), 0));
    expect("$SFB report bad" LINES,
           "  not recorded, as asked for: 0.500 s, from 0.500 to 1.000 s, 1.000 to 1.000 s\n"
           "  not recorded while others were, as asked for: 0.100 s of input 4294967294, from "
           "0.400 to "
           "1.000 s\n");
    expect(
        "$SFB merge -o m bad none a && $SFB report m" LINES,
        "  not recorded while others were, as asked for: 0.500 s of input 1, from 0.500 to 1.000 "
        "s, 1.000 to "
        "1.000 s\n"
        "  not recorded while others were, as asked for: 1.000 s of input 3, from 0.500 to 1.000 "
        "s, 2.000 to the end\n");
}

Test(pauses, are_not_made_of_gaps)
{
    expect("$SFB merge -o m none && { $SFB report m" LINES "; :; }", "");
    expect_duration("m", 2500000000);
}

/* A column is 32.051 ms. */
Test(pauses, stand_in_the_tracks_of_their_threads)
{
    expect("$SFB report --timeline a none | grep '^  [.:]'",
           "  ..............................................................................\n"
           "  ................:::::::::::::::...............................::::::::::::::::\n");
    expect("$SFB report --timeline none | grep -c ': not recorded'; :", "0\n");
}

/* What no sample has is in no column: its thread says it. */
Test(pauses, unsampled_time_stands_beside_the_track)
{
    made_all("the program ended");
    cr_assert(eq(int, rename(made_path, "all"), 0));
    expect("$SFB report --timeline --unit ms all | grep -v '^  '",
           "0.000 to 2.500 s, a column is 32.051 ms\n"
           "# running\n\n"
           "201 main (program 101), 10.000 ms\n\n"
           "202 wor;k\\012 (program 101), 4.500 ms, and 1.000 ms of CPU time that no sample has\n\n"
           "not in it: 0.500 ms of CPU time that no sample has\n");
}
