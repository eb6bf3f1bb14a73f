/* Command lines of perf: each works, or one line says what to type here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(habits, .init = folder_enter, .fini = folder_remove);

/* The rate that a report names: what was asked for, whatever was reached. */
static unsigned long rate_of(const char *file)
{
    struct run run = run_line("'%s' report '%s'", SFB_TOOL, file);
    const char *at = strstr(run.out, " Hz ");
    unsigned long rate = 0;

    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert(at != NULL, "%s", run.out);
    while (at > run.out && at[-1] != ' ')
        at--;
    rate = strtoul(at, NULL, 10);
    run_free(&run);
    return rate;
}

Test(habits, of_perf_record_work)
{
    static const struct {
        const char *options;
        unsigned long rate_hz;
    } cases[] = {
        { "-F 99 -g", 99 },          { "-F99 -g --", 99 },          { "--freq=50 -T", 50 },
        { "--freq 50 -z", 50 },      { "--call-graph dwarf", 997 }, { "--call-graph=fp -i", 997 },
        { "-gq --no-inherit", 997 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recorded r = recorded("%s $P burn 20", cases[i].options);

        cr_expect_eq(r.run.status, 0, "%s: %s", cases[i].options, r.run.err);
        cr_expect(r.contents->health.finished, "%s", cases[i].options);
        cr_expect_eq(rate_of("it.sfbr"), cases[i].rate_hz, "%s: %lu", cases[i].options,
                     rate_of("it.sfbr"));
        recorded_free(&r);
    }
}

/* Nothing is started: it would print something. */
Test(habits, of_perf_record_are_refused_with_what_to_type)
{
    static const char *const cases[][2] = {
        { "-p 1 echo started", "--pid PID records what runs already: no program goes with it" },
        { "--pid=0", "'0' is no number of a process" },
        { "--pid=1 -a", "--pid and --all: one of them" },
        { "--pid=1 --heap", "the heap takes an agent" },
        { "--pid=1 --engine timer", "--engine is of an agent" },
        { "--engine looks echo started", "--engine looks goes with --pid or --all" },
        { "--delay 1 echo started", "--delay goes with --pid or --all" },
        { "--kernel echo started", "--kernel goes with --pid or --all" },
        { "-t 1", "'sfb record --pid PID'" },
        { "-a echo started", "--all records what runs already" },
        { "-ag -- echo started", "--all records what runs already" },
        { "-g -a -F 99 sleep 1", "--all records what runs already" },
        { "--all-cpus echo started", "--all records what runs already" },
        { "-u 0", "'sfb record --all'" },
        { "-e cycles echo started", "CPU time is what is sampled" },
        { "-c 1000 echo started", "--rate HZ" },
        { "-b echo started", "branches are not recorded" },
        { "-m 512 echo started", "leave it out" },
        { "-C 0 echo started", "leave it out" },
        { "-D 100 echo started", "'sfb report --time 2..'" },
        { "-v echo started", "'sfb report --check'" },
        { "--all-user echo started", "--engine perf-user" },
        { "--off-cpu echo started", "sfb record --wall" },
        { "--switch-output=1G echo started", "--max-size N" },
        { "-F max echo started", "'max' is no rate: 1 to 20000" },
        { "--freq", "'--freq' needs an argument" },
        { "-x echo started", "unknown option '-x'; see" },
        { "--outptu x", "unknown option '--outptu' (did you mean '--output'?)" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' record %s", SFB_TOOL, cases[i][0]);

        cr_expect_eq(run.status, 125, "'%s' exits with %d", cases[i][0], run.status);
        cr_expect(strstr(run.err, cases[i][1]) != NULL, "'%s': %s", cases[i][0], run.err);
        cr_expect_eq(run_count_lines(run.err), 1, "'%s': %s", cases[i][0], run.err);
        cr_expect_eq(run.out_size, 0, "'%s' was started", cases[i][0]);
        run_free(&run);
    }
}

static void expect_same_report(const char *ours, const char *theirs)
{
    struct run want = run_line("'%s' report %s", SFB_TOOL, ours),
               got = run_line("'%s' report %s", SFB_TOOL, theirs);

    cr_expect_eq(want.status, 0, "%s: %s", ours, want.err);
    cr_expect_eq(got.status, 0, "%s: %s", theirs, got.err);
    cr_expect(want.out_size > 0, "%s", ours);
    run_expect_text(theirs, got.out, want.out);
    run_free(&want);
    run_free(&got);
}

static void record(const char *file)
{
    struct run run =
        run_line("'%s' record -q -f -o %s '%s' burn 50", SFB_TOOL, file, SFB_RECORD_PROGRAM);

    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
}

Test(habits, of_perf_report_work)
{
    record("a");
    record("b");
    expect_same_report("a", "-i a");
    expect_same_report("a", "--input=a --stdio");
    expect_same_report("a b", "-i a -i b");
    expect_same_report("--diff a b", "--diff -i a b");
    expect_same_report("--top=5 a", "--stdio -f --top 5 -i a");
    expect_same_report("--top=5 a", "--top 5 a");
    expect_same_report("--tree --min=5 a", "--tree --percent-limit 5 a");
    expect_same_report("--threads a", "-T -i a");
    expect_same_report("--process record-tool-program a", "-c record-tool-program a");
    expect_same_report("--no-inlines a", "--no-inline a");
}

Test(habits, of_perf_report_are_refused_with_what_to_type)
{
    static const char *const cases[][2] = {
        { "-n", "'-n': --folded and --rows have the samples of each stack" },
        { "-s dso", "'-s': --by WHAT: function, file, line, module, thread or process" },
        { "--sort=comm,dso", "--by WHAT" },
        { "-g caller", "--tree shows which function called which" },
        { "-G", "--callers F" },
        { "--no-children", "self and total are both shown" },
        { "--children", "self and total are both shown" },
        { "--tui", "--html FILE" },
        { "-o out", "--html FILE" },
        { "-S main", "--filter RE" },
        { "--header", "--check" },
        { "--no-demangle", "--names raw" },
        { "-k vmlinux", "leave it out" },
        { "--input", "'--input' needs an argument" },
        { "--percent-limit", "'--percent-limit' needs an argument" },
        { "--tpo 5", "unknown option '--tpo' (did you mean '--top'?)" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' report %s", SFB_TOOL, cases[i][0]);

        cr_expect_eq(run.status, 2, "'%s' exits with %d", cases[i][0], run.status);
        cr_expect(strstr(run.err, cases[i][1]) != NULL, "'%s': %s", cases[i][0], run.err);
        cr_expect_eq(run_count_lines(run.err), 1, "'%s': %s", cases[i][0], run.err);
        cr_expect_eq(run.out_size, 0, "'%s': %s", cases[i][0], run.out);
        run_free(&run);
    }
}

/* Their help says which of them work. */
Test(habits, stand_in_the_help)
{
    static const char *const cases[][2] = {
        { "record", "\nAs in perf record: --freq HZ is --rate; -i, --no-inherit is" },
        { "record", "\nNot needed: -g; --call-graph X; -T," },
        { "report", "\nAs in perf report: -c, --comms P is --process; --pid PID is --process;" },
        { "report", "\nNot needed: --stdio; -f," },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' help %s", SFB_TOOL, cases[i][0]);

        cr_expect(strstr(run.out, cases[i][1]) != NULL, "%s", run.out);
        run_free(&run);
    }
}

Test(habits, name_what_does_it_here)
{
    static const char *const cases[][2] = {
        { "top", "'sfb report --top'" },
        { "annotate main", "'sfb report --list FUNCTION'" },
        { "script", "'sfb report --rows'" },
        { "stat ls", "'sfb record -- PROGRAM'" },
        { "mem record ls", "'sfb record --heap -- PROGRAM'" },
        { "x.sfbr", "(did you mean 'sfb report x.sfbr'?)" },
        { "/bin/sh", "(did you mean 'sfb record -- /bin/sh'?)" },
        { "-F 99 ls", "options stand behind a command, as in 'sfb record -F'" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' %s", SFB_TOOL, cases[i][0]);

        cr_expect_eq(run.status, 2, "'%s' exits with %d", cases[i][0], run.status);
        cr_expect(strstr(run.err, cases[i][1]) != NULL, "'%s': %s", cases[i][0], run.err);
        cr_expect_eq(run_count_lines(run.err), 1, "'%s': %s", cases[i][0], run.err);
        run_free(&run);
    }
}
