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
