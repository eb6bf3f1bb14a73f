/* sfb record where the system gives it little: descriptors, sizes of files, an older kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record_tool/recorded.h"
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
    cr_expect(shown > told - 0.01 && shown < told + 0.05, "%f, and it used %f", shown, told);
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
    cr_expect_gt(r.contents->weight, recorded_cpu(r.contents) / 2, "%s", r.run.err);
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
        recorded("sh -c '(\"$0\" until 300 &); readlink /proc/self/fd/2; exit 0' $P 2>&-");

    cr_expect_eq(r.run.status, 0);
    cr_expect_gt(r.contents->samples, 50);
    cr_expect_eq(r.contents->lost[SFB_LOSS_NESTED], 0, "%s", r.contents->texts);
    cr_expect_eq(r.contents->lost[SFB_LOSS_BAD_RING], 0, "%s", r.contents->texts);
    cr_expect(strstr(r.run.out, "/dev/null") == NULL, "the program got a stream: %s", r.run.out);
    recorded_free(&r);
}
