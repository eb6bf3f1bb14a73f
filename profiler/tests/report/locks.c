/* Reports of what threads waited for: each figure in it is known. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/made.h"
#include "sfb/status.h"
#include "support/compiler.h"
#include "support/run.h"
#include "support/test.h"

static const uint64_t ms = 1000000;

/* The lock that is named. It has a size, and is kept. */
struct pool {
    int jobs[4];
    int lock;
};
struct pool report_pool = { .lock = 1 };

/* Where this program's file is mapped: the linker's name for it. */
extern const char __ehdr_start[];

/*
 * A run of 2 s:
 *
 *     main      waits for report_pool.lock 3 times: 200 ms, 100 ms, and 700 ms in two parts; worker has it, in report_inner for
 *               800 ms
 *     worker    waits 300 ms for a futex of the heap, 50 ms for a socket, 1 ms where no look was
 */
static void make(void)
{
    static char path[512];
    const uint64_t start = (uintptr_t)__ehdr_start;
    uint32_t inner, outer;

    cr_assert(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    made_begin();
    made_own_modules();
    made_thread(2, 1, "wor;k\n");
    inner = made_stack(made_inside(report_inner), NULL, 0, false);
    outer = made_stack(made_inside(report_outer), NULL, 0, false);
    made_awaited(1, SFB_AWAITED_FUTEX, (uintptr_t)&report_pool.lock, start, path);
    made_awaited(2, SFB_AWAITED_FUTEX, 0x555555560010, 0x555555560000, "[heap]");
    made_awaited(3, SFB_AWAITED_SOCKET, 0, 0, "unix /tmp/\x1b[2J");
    MADE_WAIT(300, 200, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 100 * ms, .holder = 2);
    MADE_WAIT(500, 100, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 400 * ms, .holder = 2, .holder_stack = inner);
    MADE_WAIT(900, 400, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 500 * ms, .holder = 2, .holder_stack = inner);
    MADE_WAIT(1200, 300, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 500 * ms, .holder = 2, .holder_stack = inner);
    MADE_WAIT(1500, 300, ASLEEP, "futex", .thread = 2, .stack = inner, .awaited = 2,
              .since = 1200 * ms);
    MADE_WAIT(1600, 50, ASLEEP, "recvfrom", .thread = 2, .stack = inner, .awaited = 3,
              .since = 1550 * ms);
    MADE_WAIT(2000, 1, UNKNOWN, "", .thread = 2);
    made_end("the program ended");
}

TestSuite(locks, .init = make);

static void expect_lines(const char *options, const char *want)
{
    struct run run = run_line(
        "'%s' report --no-inlines %s %s | sed 's/ *made.c:.*//; s/ (test-[a-z_-]*)/ (SELF)/'",
        SFB_TOOL, options, made_path);

    run_expect_text(options, run.out, want);
    run_free(&run);
}

/* A name that comes from outside is escaped. */
Test(locks, calls_say_for_what)
{
    expect_lines("--by call --unit ms",
                 "total (ms)  total %  state and call\n"
                 "  1000.000    74.02  asleep in futex report_pool+0x10 (SELF)\n"
                 "   300.000    22.21  asleep in futex 0x555555560010 ([heap]+0x10)\n"
                 "    50.000     3.70  asleep in recvfrom unix /tmp/\\033[2J\n"
                 "     1.000     0.07  short waits\n");
}

Test(locks, are_with_their_waits_and_holders)
{
    expect_lines("--by lock --unit ms",
                 "    waits    total (ms)  longest (ms)  lock\n"
                 "        3      1000.000       700.000  report_pool+0x10 (SELF)\n"
                 "      1000.000 ms waited in\n"
                 "          report_outer\n"
                 "      800.000 ms had by wor;k\\012 in\n"
                 "          report_inner\n"
                 "      200.000 ms had by wor;k\\012, which was not looked at\n"
                 "        1       300.000       300.000  0x555555560010 ([heap]+0x10)\n"
                 "      300.000 ms waited in\n"
                 "          report_inner\n"
                 "not in it: 1.000 ms of short waits, which no look has seen\n");
}

/* Who waited for what from 0.45 to 0.6 s. */
Test(locks, are_cut_to_a_time)
{
    expect_lines("--by lock --unit ms --time 0.45..0.6",
                 "    waits    total (ms)  longest (ms)  lock\n"
                 "        2       150.000       100.000  report_pool+0x10 (SELF)\n"
                 "      150.000 ms waited in\n"
                 "          report_outer\n"
                 "      150.000 ms had by wor;k\\012 in\n"
                 "          report_inner\n");
    expect_lines("--by lock --time 1.52..1.6", "    waits    total (ns)  longest (ns)  lock\n"
                                               "no thread was seen to wait for a lock\n");
    /* Of time in which a thread waits for none. */
    made_expect(2, "--by lock --value cpu", "", "report: --by lock is of blocked time: with");
    made_expect(2, "--value runnable --by lock", "", "report: --by lock is of blocked time: with");
    made_expect(2, "--by lock --diff", "", "--diff");
}

/* The other views have calls alone: threads that wait for other locks of one kind are one. */
Test(locks, are_in_no_other_view)
{
    made_expect(0, "--folded-ns=- --no-inlines --thread main",
                "main;report_outer;asleep in futex 1000000000\n", NULL);
}

/*
 * Of merged runs a lock of a module is one. That of the heap has no address any more; its waits began at one time, as the runs are
 * the same, and are two.
 */
Test(locks, of_merged_runs_are_one)
{
    struct run run = run_line(
        "'%s' merge -f -o %s.m %s %s && '%s' report --by lock --unit ms "
        "--no-inlines %s.m | sed 's/ *made.c:.*//; s/ (test-[a-z_-]*)/ (SELF)/'; rm -f %s.m",
        SFB_TOOL, made_path, made_path, made_path, SFB_TOOL, made_path, made_path);

    run_expect_text("merged", run.out,
                    "    waits    total (ms)  longest (ms)  lock\n"
                    "        6      2000.000       700.000  report_pool+0x10 (SELF)\n"
                    "      2000.000 ms waited in\n"
                    "          report_outer\n"
                    "      1600.000 ms had by wor;k\\012 in\n"
                    "          report_inner\n"
                    "      400.000 ms had by wor;k\\012, which was not looked at\n"
                    "        2       600.000       300.000  [heap]\n"
                    "      600.000 ms waited in\n"
                    "          report_inner\n"
                    "not in it: 2.000 ms of short waits, which no look has seen\n");
    run_free(&run);
}
