/* Reports of what ended waits: each figure in it is known. */
#include "report/made.h"
#include "support/run.h"
#include "support/test.h"

static const uint64_t ms = 1000000;

#define HOSTILE "\x1b[2Jsshd (pid 1)"

/*
 * A run of 2.5 s:
 *
 *     main      1000 ms for a lock, in three parts; worker ends it in report_inner. 200 ms more, ended by worker where it was not
 *               looked at. 300 ms for a socket, ended by an interrupt
 *     worker    500 ms of sleep, ended by an interrupt; 100 ms for a pipe, ended by nginx; 50 ms, ended by a hostile name; 41 ms
 *               of which nothing is known, and 20 ms for a CPU
 *     interrupt 10 ms, ended by main; a thread of this name is no interrupt
 */
static void make(void)
{
    uint32_t inner, outer;

    made_begin();
    made_own_modules();
    made_thread(2, 1, "wor;k\n");
    made_thread(3, 1, "interrupt");
    inner = made_stack(made_inside(report_inner), NULL, 0, false);
    outer = made_stack(made_inside(report_outer), NULL, 0, false);
    made_awaited(1, SFB_AWAITED_FUTEX, 0x555555560010, 0x555555560000, "[heap]");
    made_awaited(2, SFB_AWAITED_SOCKET, 0, 0, "unix /run/db.sock");
    MADE_WAIT(500, 400, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 100 * ms);
    MADE_WAIT(600, 500, ASLEEP, "clock_nanosleep", .thread = 2, .stack = inner, .since = 100 * ms,
              .waker_name = "interrupt");
    MADE_WAIT(900, 400, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 100 * ms);
    MADE_WAIT(700, 100, ASLEEP, "read", .thread = 2, .stack = inner, .since = 600 * ms,
              .waker_name = "nginx (pid 4711)");
    MADE_WAIT(750, 50, ASLEEP, "read", .thread = 2, .stack = inner, .waker_name = HOSTILE);
    MADE_WAIT(840, 40, ASLEEP, "futex", .thread = 2, .stack = inner, .since = 800 * ms);
    MADE_WAIT(841, 1, UNKNOWN, "", .thread = 2);
    MADE_WAIT(880, 20, RUNNABLE, "", .thread = 2, .stack = inner);
    MADE_WAIT(1100, 200, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 100 * ms, .waker = 2, .waker_stack = inner);
    MADE_WAIT(1350, 200, ASLEEP, "futex", .thread = 1, .stack = outer, .awaited = 1,
              .since = 1150 * ms, .waker = 2);
    MADE_WAIT(1700, 300, ASLEEP, "recvfrom", .thread = 1, .stack = outer, .awaited = 2,
              .waker_name = "interrupt");
    MADE_WAIT(1800, 10, ASLEEP, "futex", .thread = 3, .stack = inner, .since = 1790 * ms,
              .waker = 1, .waker_stack = outer);
    MADE_WAIT(1850, 5, ASLEEP, "futex", .thread = 1, .stack = outer, .since = 1845 * ms, .waker = 3,
              .waker_stack = outer);
    made_end("the program ended");
}

TestSuite(wakers, .init = make);
/* @param filter  of the shell, behind the report */
static void expect_filtered(const char *options, const char *filter, const char *want)
{
    struct run run =
        run_line("'%s' report --unit ms %s %s | %s", SFB_TOOL, options, made_path, filter);

    run_expect_text(options, run.out, want);
    run_free(&run);
}

static void expect_lines(const char *options, const char *want)
{
    expect_filtered(options, "sed 's/ *made.c:.*//'", want);
}

/* The time of all three parts is worker's, which the last one names. A name that comes from outside is escaped. */
Test(wakers, are_with_their_places_and_what_they_ended)
{
    expect_lines("--by waker",
                 "    waits    total (ms)  longest (ms)  waker\n"
                 "        2      1200.000      1000.000  wor;k\\012\n"
                 "      1000.000 ms ended by it in\n"
                 "          report_inner\n"
                 "      200.000 ms ended by it, not known where\n"
                 "      1200.000 ms of main, asleep in futex 0x555555560010 ([heap]+0x10), in\n"
                 "          report_outer\n"
                 "        2       800.000       500.000  interrupt\n"
                 "      500.000 ms of wor;k\\012, asleep in clock_nanosleep, in\n"
                 "          report_inner\n"
                 "      300.000 ms of main, asleep in recvfrom unix /run/db.sock, in\n"
                 "          report_outer\n"
                 "        1       100.000       100.000  nginx (pid 4711)\n"
                 "      100.000 ms of wor;k\\012, asleep in read, in\n"
                 "          report_inner\n"
                 "        1        50.000        50.000  \\033[2Jsshd (pid 1)\n"
                 "      50.000 ms of wor;k\\012, asleep in read, in\n"
                 "          report_inner\n"
                 "        1        10.000        10.000  main\n"
                 "      10.000 ms ended by it in\n"
                 "          report_outer\n"
                 "      10.000 ms of interrupt, asleep in futex, in\n"
                 "          report_inner\n"
                 "        1         5.000         5.000  interrupt\n"
                 "      5.000 ms ended by it in\n"
                 "          report_outer\n"
                 "      5.000 ms of main, asleep in futex, in\n"
                 "          report_outer\n"
                 "not in it: 41.000 ms of waits whose end is not known\n");
    expect_lines("--by waker --top=1 --thread main",
                 "    waits    total (ms)  longest (ms)  waker\n"
                 "        2      1200.000      1000.000  wor;k\\012\n"
                 "      1000.000 ms ended by it in\n"
                 "          report_inner\n"
                 "      200.000 ms ended by it, not known where\n"
                 "      1200.000 ms of main, asleep in futex 0x555555560010 ([heap]+0x10), in\n"
                 "          report_outer\n"
                 "[2 more]\n");
}

/* The part that names the waker is behind the span. */
Test(wakers, are_cut_to_a_time)
{
    expect_lines("--by waker --time 0.4..0.95 --thread main",
                 "    waits    total (ms)  longest (ms)  waker\n"
                 "        1       550.000       550.000  wor;k\\012\n"
                 "      550.000 ms ended by it in\n"
                 "          report_inner\n"
                 "      550.000 ms of main, asleep in futex 0x555555560010 ([heap]+0x10), in\n"
                 "          report_outer\n");
    expect_lines("--by waker --time 0.862..0.878 --thread 202",
                 "    waits    total (ms)  longest (ms)  waker\n"
                 "no wait in it has a known waker\n");
    made_expect(2, "--by waker --value runnable", "", "report: --by waker is of blocked time: ");
    made_expect(2, "--by waker --value cpu", "", "report: --by waker is of blocked time: ");
    made_expect(2, "--by waker --diff", "", "--diff");
    made_expect(2, "--by wakers", "", "thread, process, call, lock, waker");
}

Test(wakers, are_beneath_a_threads_time)
{
    expect_filtered("--timeline", "grep 'program\\|that'",
                    "201 main (program 101), 1505.000 ms\n"
                    "    1200.000 ms  of that ended by thread 202 wor;k\\012\n"
                    "     300.000 ms  of that ended by interrupt\n"
                    "       5.000 ms  of that ended by thread 203 interrupt\n"
                    "202 wor;k\\012 (program 101), 711.000 ms\n"
                    "     500.000 ms  of that ended by interrupt\n"
                    "     100.000 ms  of that ended by nginx (pid 4711)\n"
                    "      50.000 ms  of that ended by \\033[2Jsshd (pid 1)\n"
                    "203 interrupt (program 101), 10.000 ms\n"
                    "      10.000 ms  of that ended by thread 201 main\n");
    expect_filtered("--timeline --time 0.55..0.65", "grep 'program\\|that'",
                    "201 main (program 101), 100.000 ms\n"
                    "     100.000 ms  of that ended by thread 202 wor;k\\012\n"
                    "202 wor;k\\012 (program 101), 100.000 ms\n"
                    "      50.000 ms  of that ended by interrupt\n"
                    "      50.000 ms  of that ended by nginx (pid 4711)\n");
}

/* Six wakers, of which five have a line. */
Test(wakers_of_a_thread, are_a_few_lines)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g" };

    made_begin();
    for (uint64_t i = 0; i < 7; i++)
        MADE_WAIT(100 * (i + 1), 10 + i, ASLEEP, "read", .thread = 1, .waker_name = names[i]);
    made_end("the program ended");
    expect_filtered("--timeline", "grep that",
                    "      16.000 ms  of that ended by g\n"
                    "      15.000 ms  of that ended by f\n"
                    "      14.000 ms  of that ended by e\n"
                    "      13.000 ms  of that ended by d\n"
                    "      12.000 ms  of that ended by c\n"
                    "      21.000 ms  of that ended by others [2 more]\n");
}

/* Threads of a pool wait for work: what they wait for is in no sum. */
Test(wakers_of_idle_threads, are_left_out)
{
    uint32_t pool;

    made_begin();
    made_own_modules();
    made_thread(2, 1, "pool");
    made_thread(3, 1, "pool");
    pool = made_stack(made_inside(report_host), NULL, 0, false);
    for (uint32_t thread = 2; thread <= 3; thread++)
        MADE_WAIT(2490, 2490, ASLEEP, "futex", .thread = thread, .stack = pool, .waker = 1);
    MADE_WAIT(200, 100, ASLEEP, "read", .thread = 1, .waker = 2);
    made_end("the program ended");
    expect_lines("--by waker", "    waits    total (ms)  longest (ms)  waker\n"
                               "        1       100.000       100.000  pool\n"
                               "      100.000 ms ended by it, not known where\n"
                               "      100.000 ms of main, asleep in read, not known where\n");
}

Test(wakers_of_a_recording, may_be_unknown)
{
    made_begin();
    MADE_WAIT(200, 100, ASLEEP, "read", .thread = 1);
    made_end("the program ended");
    expect_lines("--by waker", "no waker is recorded: `sfb record --wall` needs root for that, or "
                               "CAP_PERFMON and CAP_SYS_ADMIN\n");
    expect_filtered("--timeline", "grep that", "");
}

/* A short run as root has none: more rights would not help. */
Test(wakers_of_a_recording, may_be_of_no_wait)
{
    struct sfb_recording_start start = made_start;

    start.engine = SFB_ENGINE_LOOKS;
    start.engine_text = "CPU time and waits, switch records with stacks and wakers, and 100 looks";
    made_begin_as(&start);
    made_process(1);
    made_thread(1, 1, "main");
    MADE_WAIT(200, 100, UNKNOWN, "", .thread = 1);
    made_end("the program ended");
    expect_lines("--by waker", "    waits    total (ms)  longest (ms)  waker\n"
                               "no wait in it has a known waker\n"
                               "not in it: 100.000 ms of waits whose end is not known\n");
}

/* Three of the places of a cause have a stack. */
Test(wakers_of_a_recording, have_a_few_places)
{
    static const char *const calls[] = { "read", "poll", "futex", "recvfrom", "accept" };

    for (size_t count = 4; count <= 5; count++) {
        made_begin();
        for (size_t i = 0; i < count; i++)
            MADE_WAIT(100 * (i + 1), 10, ASLEEP, calls[i], .thread = 1, .waker_name = "interrupt");
        made_end("the program ended");
        expect_filtered("--by waker", "grep more",
                        count == 4 ? "      [1 more place]\n" : "      [2 more places]\n");
    }
}

/* Two threads of a name are one when recordings are merged; both began to wait before the recording did. */
Test(wakers, of_merged_runs_are_the_same)
{
    struct run run;

    made_begin();
    made_own_modules();
    made_thread(2, 1, "main");
    made_thread(3, 1, "waker");
    for (uint64_t part = 1; part <= 3; part++)
        for (uint32_t thread = 1; thread <= 2; thread++)
            made_wait((struct sfb_recording_wait){
                .thread = thread,
                .time = (part * 100 + thread) * ms,
                .weight = (part == 1 ? 100 + thread : 100) * ms,
                .state = SFB_STATE_ASLEEP,
                .call = "futex",
                .since = -(UINT64_C(500) + thread) * ms,
                .waker = part == 3 && thread == 1 ? 3 : 0,
                .waker_name = part == 3 && thread == 2 ? "interrupt" : "" });
    made_end("the program ended");
    run = run_line("'%s' merge -f -o %s.m %s && for f in %s %s.m; do '%s' report --by waker "
                   "--unit ms $f; done; rm -f %s.m",
                   SFB_TOOL, made_path, made_path, made_path, made_path, SFB_TOOL, made_path);
#define BOTH                                                                                       \
    "    waits    total (ms)  longest (ms)  waker\n"                                               \
    "        1       302.000       302.000  interrupt\n"                                           \
    "      302.000 ms of main, asleep in futex, not known where\n"                                 \
    "        1       301.000       301.000  waker\n"                                               \
    "      301.000 ms ended by it, not known where\n"                                              \
    "      301.000 ms of main, asleep in futex, not known where\n"
    run_expect_text("merged", run.out, BOTH BOTH);
    run_free(&run);
}
