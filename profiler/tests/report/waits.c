/* Reports of a recording with waits: each figure in it is known. */
#include <string.h>

#include "report/made.h"
#include "sfb/status.h"
#include "support/run.h"
#include "support/test.h"

static const uint64_t ms = 1000000;

static void put_wait(uint32_t thread, uint32_t stack, uint64_t time, uint64_t weight,
                     uint32_t state, const char *call)
{
    made_wait((struct sfb_recording_wait){ .thread = thread,
                                           .stack = stack,
                                           .time = time,
                                           .weight = weight,
                                           .state = state,
                                           .call = call });
}

/*
 * A run of 2 s:
 *
 *     main       100 ms of CPU time in report_inner, called by report_outer; before that 50 ms runnable
 *                1200 ms asleep in futex, called by report_outer: up to 1.5 s
 *                300 ms in a disk's read, 200 ms in a fault, 150 ms not looked at
 *     pool (2)   1990 ms asleep in epoll_wait, 10 ms asleep in futex
 *     lone       2000 ms asleep in epoll_wait, but elsewhere: it is no pool
 */
static void make(void)
{
    const uint64_t callers[] = { made_inside(report_outer) + 1 };
    uint32_t inner, outer, pool, lone;

    made_begin();
    made_own_modules();
    made_thread(2, 1, "pool");
    made_thread(3, 1, "pool");
    made_thread(4, 1, "lone");
    inner = made_stack(made_inside(report_inner), callers, 1, false);
    outer = made_stack(made_inside(report_outer), NULL, 0, false);
    pool = made_stack(made_inside(report_host), NULL, 0, false);
    lone = made_stack(made_inside(report_host), callers, 1, false);
    put_wait(1, inner, 150 * ms, 50 * ms, SFB_STATE_RUNNABLE, "");
    made_sample(1, inner, made_start.monotonic + 300 * ms, 100 * ms, SFB_END);
    put_wait(1, outer, 1500 * ms, 1200 * ms, SFB_STATE_ASLEEP, "futex");
    put_wait(1, outer, 1800 * ms, 300 * ms, SFB_STATE_DISK, "read");
    put_wait(1, outer, 1900 * ms, 200 * ms, SFB_STATE_FAULT, "");
    put_wait(1, 0, 2000 * ms, 150 * ms, SFB_STATE_UNKNOWN, "");
    for (uint32_t thread = 2; thread <= 3; thread++) {
        put_wait(thread, pool, 1990 * ms, 1990 * ms, SFB_STATE_ASLEEP, "epoll_wait");
        put_wait(thread, outer, 2000 * ms, 10 * ms, SFB_STATE_ASLEEP, "futex");
    }
    put_wait(4, lone, 2000 * ms, 2000 * ms, SFB_STATE_ASLEEP, "epoll_wait");
    made_end("the program ended");
}

TestSuite(waits, .init = make);

Test(waits, are_wall_time_by_state_and_call)
{
    made_expect(0, "--by call --unit ms",
                "total (ms)  total %  state and call\n"
                "  2000.000    50.00  asleep in epoll_wait\n"
                "  1200.000    30.00  asleep in futex\n"
                "   300.000     7.50  disk in read\n"
                "   200.000     5.00  page fault\n"
                "   150.000     3.75  short waits\n"
                "   100.000     2.50  [running]\n"
                "    50.000     1.25  runnable\n",
                NULL);
}

Test(waits, are_chosen_by_value)
{
    made_expect(0, "--by call --unit ms --value cpu",
                "total (ms)  total %  state and call\n"
                "   100.000   100.00  [running]\n",
                NULL);
    made_expect(0, "--by call --unit ms --value offcpu",
                "total (ms)  total %  state and call\n"
                "  2000.000    51.28  asleep in epoll_wait\n"
                "  1200.000    30.77  asleep in futex\n"
                "   300.000     7.69  disk in read\n"
                "   200.000     5.13  page fault\n"
                "   150.000     3.85  short waits\n"
                "    50.000     1.28  runnable\n",
                NULL);
    made_expect(0, "--by call --unit ms --value blocked",
                "total (ms)  total %  state and call\n"
                "  2000.000    51.95  asleep in epoll_wait\n"
                "  1200.000    31.17  asleep in futex\n"
                "   300.000     7.79  disk in read\n"
                "   200.000     5.19  page fault\n"
                "   150.000     3.90  short waits\n",
                NULL);
    made_expect(0, "--by call --unit ms --value runnable",
                "total (ms)  total %  state and call\n"
                "    50.000   100.00  runnable\n",
                NULL);
    made_expect(2, "--value live", "", "it is for heaps");
    made_expect(2, "--value idle", "", "is not one of cpu, wall");
}

/* A wait of 1.2 s has its part in a span of time. */
Test(waits, are_cut_to_a_time)
{
    made_expect(0, "--by call --unit ms --time 1..1.6 --thread main",
                "total (ms)  total %  state and call\n"
                "   500.000    83.33  asleep in futex\n"
                "   100.000    16.67  disk in read\n",
                NULL);
}

/* Idle threads of a pool stand outside of the sums; one alone is no pool. */
Test(waits, of_pools_are_said_apart)
{
    struct run run = run_line("'%s' report --no-inlines %s", SFB_TOOL, made_path);

    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "  wall time 4.000 s in 1 process and 4 threads") != NULL, "%s",
              run.out);
    cr_expect(
        strstr(
            run.out,
            "  not in it: 2 idle threads pool, 3.980 s asleep in epoll_wait for report_host\n") !=
            NULL,
        "%s", run.out);
    run_free(&run);
}

/* The name of a call comes from the recording. */
Test(waits, of_pools_do_not_move_the_terminal)
{
    uint32_t pool;
    struct run run;

    made_begin();
    made_own_modules();
    made_thread(2, 1, "pool");
    made_thread(3, 1, "pool");
    pool = made_stack(made_inside(report_host), NULL, 0, false);
    for (uint32_t thread = 2; thread <= 3; thread++)
        put_wait(thread, pool, 2000 * ms, 2000 * ms, SFB_STATE_ASLEEP, "\033[2J");
    made_end("the program ended");
    run = run_line("'%s' report --no-inlines %s", SFB_TOOL, made_path);
    cr_expect(strstr(run.out, "  not in it: 2 idle threads pool, 4.000 s asleep in \\033[2J") !=
                  NULL,
              "%s", run.out);
    cr_expect(strchr(run.out, '\033') == NULL);
    run_free(&run);
}

Test(waits, are_innermost_frames_of_files)
{
    made_expect(0, "--folded-ns=- --no-inlines",
                "lone;report_outer;report_host;asleep in epoll_wait 2000000000\n"
                "main;report_outer;asleep in futex 1200000000\n"
                "main;report_outer;disk in read 300000000\n"
                "main;report_outer;page fault 200000000\n"
                "main;report_outer;report_inner 100000000\n"
                "main;report_outer;report_inner;runnable 50000000\n"
                "main;short waits 150000000\n",
                NULL);
}

/* A file may claim a wait of a day: its points are few, and their sum is the wait. */
Test(waits_of_a_file, are_few_points)
{
    const uint64_t weight = 100000000 * ms;
    struct run run;

    made_begin();
    put_wait(1, 0, weight, weight, SFB_STATE_ASLEEP, "futex");
    made_end("the program ended");
    run = run_line(
        "'%s' report --perf-script %s |"
        " awk '$5 == \"offcpu-time:\" { n++; sum += $4 } END { print (n <= 4096), sum / 1e9 }'",
        SFB_TOOL, made_path);
    run_expect_text("perf-script", run.out, "1 100000\n");
    run_free(&run);
}
