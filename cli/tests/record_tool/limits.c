/* sfb record where the system gives it little: descriptors, sizes of files, an older kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_limits, .init = folder_enter, .fini = folder_remove);

/* A process of which nobody says the end is not one that has ended. */
Test(record_limits, without_descriptors_of_processes)
{
    char before[512];
    struct recorded r;
    double told = 0, shown;

    snprintf(before, sizeof before, "'%s' %d", SFB_RECORD_DENIED, SYS_pidfd_open);
    r = recorded_by(before, "sh -c '\"$0\" burn 300' $P");
    shown = (double)recorded_cpu(r.contents) / 1e9;
    cr_assert_eq(sscanf(r.run.out, "cpu %lf", &told), 1, "%s", r.run.err);
    /* And what the shell used. */
    cr_expect(shown > 0.95 * told && shown < 1.05 * told + 0.05, "%f, and it used %f", shown, told);
    cr_expect_gt(r.contents->weight, 250000000, "%s", r.run.err);
    for (uint32_t i = 0; i < r.contents->process_count; i++)
        cr_expect(r.contents->process[i].ended && r.contents->process[i].end != SFB_PROCESS_LEFT,
                  "%u", r.contents->process[i].end);
    recorded_free(&r);
}

Test(record_limits, with_more_processes_than_descriptors)
{
    enum { CHILDREN = 60 };
    struct recorded r = recorded_by("ulimit -n 64;", "$P children %d", CHILDREN);

    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    cr_expect_eq(r.contents->process_count, CHILDREN + 1);
    /* Each used 5 ms. */
    cr_expect_gt(recorded_cpu(r.contents), 280000000);
    /* A part of it is the kernel's, and a tick meets few of such short lives on a busy machine: record_tool.proportion judges shares. */
    cr_expect_gt(r.contents->weight, recorded_cpu(r.contents) / 10, "%s", r.run.err);
    cr_expect_eq(r.contents->lost[SFB_LOSS_NOT_FOLLOWED], 0, "%s", r.contents->texts);
    recorded_free(&r);
}

/* It is the memory that is larger, which is no file of the user. */
Test(record_limits, with_a_limit_on_the_size_of_files)
{
    struct run run = run_line("ulimit -f 1000; '%s' record -o a '%s' burn 1; echo $?", SFB_TOOL,
                              SFB_RECORD_PROGRAM);
    struct recorded r;

    cr_expect(strstr(run.out, "125\n") != NULL, "%s%s", run.out, run.err);
    cr_expect(strstr(run.err, "ulimit -f") != NULL, "%s", run.err);
    run_free(&run);

    r = recorded_by("ulimit -S -f 1000;", "sh -c '\"$0\" burn 100; ulimit -f; "
                                          "grep SigIgn /proc/self/status' $P");
    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    cr_expect_gt(r.contents->samples, 10, "%s", r.run.err);
    cr_expect(strstr(r.run.out, "\n1000\nSigIgn:\t0000000000000000\n") != NULL, "%s", r.run.out);
    recorded_free(&r);
}

/* What is printed to a descriptor that is closed does not go into what has its number. */
Test(record_limits, without_standard_streams)
{
    struct recorded r =
        recorded("sh -c '(\"$0\" burn 300 &); readlink /proc/self/fd/2; exit 0' $P 2>&-");

    cr_expect_eq(r.run.status, 0);
    cr_expect_gt(r.contents->samples, 50);
    cr_expect_eq(r.contents->lost[SFB_LOSS_NESTED], 0, "%s", r.contents->texts);
    cr_expect_eq(r.contents->lost[SFB_LOSS_BAD_RING], 0, "%s", r.contents->texts);
    cr_expect(strstr(r.run.out, "/dev/null") == NULL, "the program got a stream: %s", r.run.out);
    recorded_free(&r);
}

/* It ends as it does alone, and what it starts is recorded; its name stands among those that have no agent. */
Test(record_limits, with_programs_of_another_c_library)
{
    struct recorded r;

    if (!*SFB_RECORD_MUSL) {
        SAY_SKIPPED("record_limits: musl-gcc is not installed");
        return;
    }
    r = recorded("'" SFB_RECORD_MUSL "' sleep");
    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    cr_expect(strstr(r.run.out, "cpu ") != NULL, "%s", r.run.err);
    cr_expect(strstr(r.run.err, "Error relocating") == NULL, "%s", r.run.err);
    cr_expect_geq(r.contents->engine, SFB_ENGINE_OUTSIDE, "%s", r.run.err);
    recorded_free(&r);
    r = recorded("--engine timer sh -c '\"$0\" sleep; true' '" SFB_RECORD_MUSL "'");
    cr_expect(strstr(r.contents->texts, "a program of musl") != NULL, "%s", r.contents->texts);
    recorded_free(&r);
    r = recorded("--heap sh -c '\"$0\" status 7; echo status $?; \"$1\" burn 50' '" SFB_RECORD_MUSL
                 "' $P");
    cr_expect(strstr(r.run.out, "status 7\n") != NULL, "%s%s", r.run.out, r.run.err);
    cr_expect_eq(r.contents->process_count, 2, "%s", r.run.err);
    recorded_free(&r);
}

/* --- address space ------------------------------------------------------------------------------- */

/* What the program has without an agent, in KiB. */
static unsigned long size_alone(void)
{
    struct run run = run_line("'%s' 0", SFB_RECORD_LIMITS);
    const unsigned long size = strtoul(run.out, NULL, 10);

    cr_assert_gt(size, 1000, "%s", run.err);
    run_free(&run);
    return size;
}

/* It limits itself to what it has alone and 64 MiB, and uses 32 of them: the agent's part is its own affair. */
static void expect_work(const char *mode, const char *when, uint32_t processes)
{
    struct recorded r = recorded("%s '%s' %lu %s", mode, SFB_RECORD_LIMITS, size_alone(), when);

    cr_expect_eq(r.run.status, 0, "%s %s: %s", mode, when, r.run.err);
    cr_expect(strstr(r.run.out, "done\n") != NULL, "%s %s: %s", mode, when, r.run.err);
    cr_expect_eq(r.contents->process_count, processes, "%s %s: %s", mode, when, r.contents->texts);
    cr_expect_eq(r.contents->lost[SFB_LOSS_SPACE], 0, "%s %s", mode, when);
    cr_expect_eq(r.contents->lost[SFB_LOSS_NO_RING], 0, "%s %s: %s", mode, when, r.run.err);
    if (*mode == '\0') { /* it burns 50 ms */
        cr_expect_geq(recorded_cpu(r.contents), 45000000, "%s: %s", when, r.run.err);
        cr_expect_gt(r.contents->samples, 0, "%s: %s", when, r.run.err);
    }
    recorded_free(&r);
}

Test(record_limits, that_a_program_sets_on_its_address_space)
{
    expect_work("", "before", 1);
    expect_work("", "threads", 1);
    expect_work("", "children", 4);
}

Test(record_limits, that_a_program_sets_on_its_address_space_with_heap)
{
    expect_work("--heap", "before", 1);
    expect_work("--heap", "threads", 1);
    expect_work("--heap", "children", 4);
}

/* The agent's share is an eighth of a limit that stands when it is loaded. */
Test(record_limits, on_address_space_that_stand_at_the_start)
{
    struct recorded r = recorded("sh -c 'ulimit -v 100000; \"$0\" 0; exec \"$0\" %lu before' '%s'",
                                 size_alone(), SFB_RECORD_LIMITS);
    unsigned long size = strtoul(r.run.out, NULL, 10);

    cr_expect_eq(r.run.status, 0, "%s", r.run.err);
    cr_expect(strstr(r.run.out, "done\n") != NULL, "%s", r.run.err);
    cr_expect_gt(size, 5000, "nothing was mapped: %s", r.run.out);
    cr_expect_lt(size, 100000 / 8 + 10000, "%s", r.run.out);
    cr_expect_eq(r.contents->lost[SFB_LOSS_SPACE], 0, "%s", r.contents->texts);
    cr_expect_geq(recorded_cpu(r.contents), 45000000, "%s", r.run.err);
    recorded_free(&r);

    /* The tables of the heap alone are 8 MiB. */
    r = recorded("--heap sh -c 'ulimit -v 40000; exec \"$0\" 0' '%s'", SFB_RECORD_LIMITS);
    cr_expect_eq(r.contents->lost[SFB_LOSS_SPACE], 1, "%s", r.run.err);
    recorded_free(&r);
}
