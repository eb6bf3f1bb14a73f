/* A filter that finds nothing says so, and says what there is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "profiler/tests/report/made_heap.h"
#include "support/run.h"
#include "support/test.h"

static void expect_refusal(const char *options, const char *want)
{
    made_expect(2, options, "", want);
}

Test(hits, say_what_there_is)
{
    made_all("the program ended");
    expect_refusal("--process=other", "no process is called 'other': there is program (101)\n");
    expect_refusal("--thread=203", "no thread is called '203': there are main (201), wor;k\\012 "
                                   "(202); sfb report --threads lists them\n");
    expect_refusal("--filter=^none", "--filter: no stack has a function that '^none' finds: sfb "
                                     "report --top=0 lists all functions\n");
    expect_refusal("--time=2..", "--time: there is no sample: there are some from 0.500 s to "
                                 "0.800 s\n");
    expect_refusal("--time=..0.1", "--time: there is no sample: ");
    expect_refusal("--thread=main --filter=^none",
                   "nothing is in all of the parts that are "
                   "chosen: leave out --filter, --time, --process or --thread\n");
    expect_refusal("--folded --time=2..", "--time: there is no sample: ");
    expect_refusal("--callers=none", "no function is called 'none'");
    unlink(made_path);
}

/* A list of names ends somewhere. */
Test(hits, count_what_is_not_listed)
{
    made_begin();
    for (uint32_t id = 2; id <= 12; id++)
        made_thread(id, 1, "worker");
    made_end("the program ended");
    expect_refusal("--thread=x", "worker (208), and 4 more; ");
    unlink(made_path);
}

/* What has no sample in a recording without samples is no matter of the filter. */
Test(hits, leave_an_empty_recording_alone)
{
    struct run run;

    made_begin();
    made_end("the program ended");
    run = run_line("'%s' report --time 1.. %s", SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    unlink(made_path);
}

Test(hits, of_a_heap)
{
    const struct made_heap how = { .events = true, .totals = true };
    struct run run;

    made_heap_write(&how, "the program ended");
    expect_refusal("--filter=^none", "--filter: no stack has a function that '^none' finds");
    expect_refusal("--process=other", "no process is called 'other': there is program (101)\n");
    /* That nothing lives is an answer. */
    run = run_line("'%s' report --at 0.01 %s", SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    unlink(made_path);
}

Test(hits, heaptrack_names_the_process_to_add)
{
    const struct sfb_recording_heap other = { .process = 2, .time = made_start.monotonic };
    const struct sfb_recording_heap_event event = { 2, 2, 1200000000, 4096, false };

    made_begin();
    made_own_modules();
    made_process(2);
    made_thread(2, 2, "main");
    made_heap_begin(0, 0);
    made_heap_site(1, 1, made_stack(made_inside(report_outer), NULL, 0, false));
    made_heap_events(1, 1100, 100, 2, false);
    cr_assert(eq(int, sfb_recording_put_heap(made_writer, &other), SFB_OK));
    made_heap_site(2, 2, 0);
    cr_assert(eq(int, sfb_recording_put_heap_event(made_writer, &event), SFB_OK));
    made_end("the program ended");
    expect_refusal("--heaptrack none/file", "--heaptrack: a file has one process, and there are 2: "
                                            "add --process 102, or one of program (102), program "
                                            "(101)\n");
    unlink(made_path);
}
