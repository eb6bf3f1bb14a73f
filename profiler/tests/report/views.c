/* What sfb report shows, on recordings with known figures: all views have the same ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "support/run.h"
#include "support/test.h"

Test(views, top)
{
    made_all("the program ended");
    made_expect(0, "--top=2 --unit ns",
                " self (ns)   self %  total (ns)  total %  function (module)\n"
                "  10000000    62.50    10000000    62.50  report_inner (test-report-views)\n"
                "   2500000    15.62     2500000    15.62  [no stack]\n"
                "   3500000    21.88                       [3 more]\n",
                NULL);
    made_expect(0, "--top --min 50 --unit us",
                " self (us)   self %  total (us)  total %  function (module)\n"
                " 10000.000    62.50   10000.000    62.50  report_inner (test-report-views)\n"
                "  2000.000    12.50   12000.000    75.00  report_outer (test-report-views)\n"
                "  4000.000    25.00                       [3 more]\n",
                NULL);
    unlink(made_path);
}

Test(views, sorted_by_total)
{
    made_all("the program ended");
    made_expect(0, "--top=2 --sort total --unit us",
                " self (us)   self %  total (us)  total %  function (module)\n"
                "  2000.000    12.50   12000.000    75.00  report_outer (test-report-views)\n"
                " 10000.000    62.50   10000.000    62.50  report_inner (test-report-views)\n"
                "  4000.000    25.00                       [3 more]\n",
                NULL);
    made_expect(2, "--sort dso", "", "'dso' is not one of self, total");
    made_expect(2, "--tree --sort self", "", "--sort changes nothing in --tree");
    unlink(made_path);
}

/* What is wrong names each option that has to do with it. */
Test(views, refusals_name_both_options)
{
    static const char *const cases[][2] = {
        { "--timeline --by call", "--timeline and --by: one of them" },
        { "--by call --timeline", "--by and --timeline: one of them" },
        { "--top --tree", "--top and --tree: one of them" },
        { "--callers x --threads", "--callers and --threads: one of them" },
        { "--memory --check", "--memory and --check: one of them" },
        { "--by lock --by call", "--by lock and --by call: one of them" },
        { "--timeline --diff", "--diff goes with --top, --by and files, not with --timeline" },
        { "--by lock --diff", "not with --by lock" },
        { "--folded --tree", "--folded: standard output is taken by --tree; --folded=FILE writes" },
        { "--folded --rows", "--rows: standard output is taken by --folded" },
        { "--check --open", "--check and --open: one of them" },
        { "--timeline=x", "--timeline: 'x' is no number of rows" },
    };

    made_all("the program ended");
    made_expect(0, "--by thread --by thread --top=1",
                "total (ms)  total %  thread\n"
                "    10.000    62.50  main\n"
                "     6.000    37.50  [2 more]\n",
                NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        made_expect(2, cases[i][0], "", cases[i][1]);
    unlink(made_path);
}

/* A number behind it is how many, not a file, unless it is the only one and is there. */
Test(views, top_takes_a_number)
{
    static const char *const lines[][2] = { { "--top 2", "" },
                                            { "", "--top 2" },
                                            { "--unit ms --top 2", "" },
                                            { "--top 2 --unit ms", "" } };
    char folder[] = "/tmp/sfb-report-top-XXXXXX";
    struct run want, run;

    made_all("the program ended");
    cr_assert(mkdtemp(folder) != NULL);
    want = run_line("'%s' report --top=2 %s", SFB_TOOL, made_path);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        run = run_line("'%s' report %s %s %s", SFB_TOOL, lines[i][0], made_path, lines[i][1]);
        cr_expect(eq(int, run.status, 0), "%zu: %s", i, run.err);
        run_expect_text(lines[i][0], run.out, want.out);
        run_free(&run);
    }
    run_free(&want);
    want = run_line("'%s' report --top %s", SFB_TOOL, made_path);
    run = run_line("cd %s && cp %s 2 && '%s' report --top 2; rm -r %s", folder, made_path, SFB_TOOL,
                   folder);
    run_expect_text("a file", run.out, want.out);
    run_free(&run);
    run_free(&want);
    unlink(made_path);
}

Test(views, by_what)
{
    char want[512], folder[] = "/proc/self/exe", program[256];
    const ssize_t size = readlink(folder, program, sizeof program - 1);

    cr_assert(lt(i64, 0, size));
    program[size] = '\0';
    made_all("the program ended");
    made_expect(0, "--by thread",
                "total (ms)  total %  thread\n"
                "    10.000    62.50  main\n"
                "     5.500    34.38  wor;k\\012\n"
                "     0.500     3.12  [no thread]\n",
                NULL);
    made_expect(0, "--by process",
                "total (ms)  total %  process (pid)\n"
                "    16.000   100.00  program (101)\n",
                NULL);
    snprintf(want, sizeof want,
             " self (ms)   self %%  total (ms)  total %%  module\n"
             "    12.000    75.00      12.000    75.00  %s\n"
             "     2.500    15.62       2.500    15.62  [no stack]\n"
             "     1.500     9.38       1.500     9.38  [unsampled]\n"
             "     0.000     0.00       2.000    12.50  [truncated]\n",
             program);
    made_expect(0, "--by module", want, NULL);
    made_expect(0, "--by file --symbols=none",
                " self (ms)   self %  total (ms)  total %  file\n"
                "    12.000    75.00      12.000    75.00  [no file] (test-report-views)\n"
                "     2.500    15.62       2.500    15.62  [no stack]\n"
                "     1.500     9.38       1.500     9.38  [unsampled]\n"
                "     0.000     0.00       2.000    12.50  [truncated]\n",
                NULL);
    unlink(made_path);
}

/* The root is all CPU time, and each branch is its own time and that of its branches. */
Test(views, tree)
{
    made_all("the program ended");
    made_expect(
        0, "--tree",
        " self (ms)   self %  total (ms)  total %  function (module)\n"
        "     0.000     0.00      16.000   100.00  [all]\n"
        "     0.000     0.00      10.000    62.50  |- report_outer (test-report-views) x 2\n"
        "    10.000    62.50      10.000    62.50  |  report_inner (test-report-views)\n"
        "     2.500    15.62       2.500    15.62  |- [no stack]\n"
        "     0.000     0.00       2.000    12.50  |- [truncated]\n"
        "     2.000    12.50       2.000    12.50  |  report_outer (test-report-views)\n"
        "     1.500     9.38       1.500     9.38  `- [unsampled]\n",
        NULL);
    made_expect(
        0, "--tree --min 20%",
        " self (ms)   self %  total (ms)  total %  function (module)\n"
        "     0.000     0.00      16.000   100.00  [all]\n"
        "     0.000     0.00      10.000    62.50  |- report_outer (test-report-views) x 2\n"
        "    10.000    62.50      10.000    62.50  |  report_inner (test-report-views)\n"
        "                          6.000    37.50  `- [3 more]\n",
        NULL);
    unlink(made_path);
}

/* Calls that tell nothing but the way are one line; the ends of the chain stay, and a part without a branch below it. */
Test(views, tree_folds_chains)
{
    static const char names[] = "7000 100 leaf\n7100 100 e\n7200 100 d\n7300 100 c\n7400 100 b\n"
                                "7500 100 a\n7600 100 other\n";
    const struct sfb_recording_file file = { 1, "perf-101.map", names, sizeof names - 1 };
    const uint64_t callers[] = { 0x7110, 0x7210, 0x7310, 0x7410, 0x7510 };

    made_begin();
    made_sample(1, made_stack(0x7010, callers, 5, false), 1500000000, 3000000, SFB_END);
    made_sample(1, made_stack(0x7610, callers, 5, false), 1500000000, 1000000, SFB_END);
    cr_assert(eq(int, sfb_recording_put_file(made_writer, &file), SFB_OK));
    made_end("the program ended");
    made_expect(0, "--tree --unit ms",
                " self (ms)   self %  total (ms)  total %  function (module)\n"
                "     0.000     0.00       4.000   100.00  [all]\n"
                "                                          [4 calls]\n"
                "     0.000     0.00       4.000   100.00  e\n"
                "     3.000    75.00       3.000    75.00  |- leaf\n"
                "     1.000    25.00       1.000    25.00  `- other\n",
                NULL);
    made_expect(0, "--tree --min 0 --unit ms",
                " self (ms)   self %  total (ms)  total %  function (module)\n"
                "     0.000     0.00       4.000   100.00  [all]\n"
                "     0.000     0.00       4.000   100.00  a\n"
                "     0.000     0.00       4.000   100.00  b\n"
                "     0.000     0.00       4.000   100.00  c\n"
                "     0.000     0.00       4.000   100.00  d\n"
                "     0.000     0.00       4.000   100.00  e\n"
                "     3.000    75.00       3.000    75.00  |- leaf\n"
                "     1.000    25.00       1.000    25.00  `- other\n",
                NULL);
    unlink(made_path);
}

/* An option that would change nothing is an error, and its view is named. */
Test(views, options_without_effect)
{
    made_all("the program ended");
    made_expect(2, "--list report_inner --min 5", "", "--min changes nothing in --list; see");
    made_expect(2, "--check --filter a", "", "--filter changes nothing in --check; see");
    made_expect(2, "--rows=/dev/null --unit ms", "", "--unit changes nothing in these files; see");
    made_expect(2, "--rows=/dev/null --sort self", "", "--sort changes nothing in these files");
    made_expect(2, "--threads --no-inlines", "", "--no-inlines changes nothing in --threads");
    made_expect(0, "--rows=/dev/null --filter report_inner --process 101", "", NULL);
    unlink(made_path);
}

/* @return how many numbers a list has; *sum: theirs */
static size_t numbers(const char *line, const char *list, uint64_t *sum)
{
    const char *at = strstr(line, list);
    size_t count = 0;

    *sum = 0;
    cr_assert(at != NULL, "no %s", list);
    at += strlen(list);
    for (char *end; *at != ']'; at = *end == ',' ? end + 1 : end) {
        *sum += strtoull(at, &end, 10);
        cr_assert(end != at);
        count++;
    }
    return count;
}

/* Of a long function a page has instructions near figures, and those at its far end are no worse than others. */
Test(views, code_of_a_long_function)
{
    const uint64_t start = made_inside(report_long) & ~(uint64_t)3;
    uint64_t self, gaps, ignored;
    struct run run;

    made_begin();
    made_own_modules();
    made_sample(1, made_stack(start + 200, NULL, 0, false), 1500000000, 3000000, SFB_END);
    made_sample(1, made_stack(start + 1800, NULL, 0, false), 1500000000, 2000000, SFB_END);
    made_end("the program ended");
    run = run_line("'%s' report --html - %s | grep '^\"code\":\\['", SFB_TOOL, made_path);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    if (strncmp(run.out, "\"code\":[]", 10) == 0)
        cr_skip_test("built without capstone");
    cr_expect(strstr(run.out, "\"weight\":5000000,") != NULL, "%s", run.out);
    cr_expect(eq(sz, numbers(run.out, "\"offset\":[", &ignored), 2 * (2 * 16 + 1)));
    numbers(run.out, "\"self\":[", &self);
    cr_expect(eq(u64, self, 5000000));
    cr_expect(eq(sz, numbers(run.out, "\"gaps\":[", &gaps), 2));
    cr_expect(eq(u64, gaps, 0 + 33));
    run_free(&run);
    unlink(made_path);
}

/* Instructions are those that objdump finds at the same addresses, and the figures stand at the one that was interrupted. */
Test(views, annotate)
{
    struct run run, objdump;
    char program[256];
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    size_t instructions = 0, with_figures = 0;

    cr_assert(lt(i64, 0, size));
    program[size] = '\0';
    made_all("the program ended");
    run = run_line("'%s' report --annotate report_inner --unit ms --color=never %s", SFB_TOOL,
                   made_path);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    if (strstr(run.out, "no disassembler"))
        cr_skip_test("built without capstone");
    objdump = run_line("objdump -d --no-show-raw-insn '%s'", program);
    cr_expect(strncmp(run.out, "report_inner (test-report-views)\n", 33) == 0, "%s", run.out);
    for (char *rest = run.out, *line; (line = strsep(&rest, "\n"));) {
        char *colon = strstr(line, ":  "), *from = colon, want[64], name[32];

        while (colon && from > line && strchr("0123456789abcdef", from[-1]))
            from--;
        if (!colon || from == colon || sscanf(colon + 3, "%31s", name) != 1)
            continue;
        snprintf(want, sizeof want, "%.*s:\t%.3s", (int)(colon - from), from, name);
        cr_expect(strstr(objdump.out, want) != NULL, "objdump has no '%s'", want);
        instructions++;
        with_figures += strstr(line, "  10.000    62.50      10.000    62.50  ") != NULL;
    }
    cr_expect(lt(sz, 2, instructions), "%zu", instructions);
    cr_expect(eq(sz, with_figures, 1));
    run_free(&run);
    run_free(&objdump);
    /* The page has the same. */
    run = run_line("'%s' report --html - %s | grep -c '^\"code\":\\[{\"function\":'", SFB_TOOL,
                   made_path);
    run_expect_text("code in the page", run.out, "1\n");
    run_free(&run);
    made_expect(2, "--annotate nothing", "", "no function is called 'nothing'");
    unlink(made_path);
}

/* A recursion is counted once: outward from where it was entered, inward from its innermost call. */
Test(views, callers)
{
    made_all("the program ended");
    made_expect(0, "--callers report_outer",
                " self (ms)   self %  total (ms)  total %  function\n"
                "     2.000    12.50      12.000    75.00  report_outer\n"
                "\n"
                "total (ms)  total %  called by\n"
                "    12.000    75.00  report_outer\n"
                "     2.000    12.50  [truncated]\n"
                "\n"
                "total (ms)  total %  calls\n"
                "    12.000    75.00  report_outer\n"
                "    10.000    62.50  |- report_inner (test-report-views)\n"
                "     2.000    12.50  `- [itself]\n",
                NULL);
    made_expect(0, "--callers '^report_(inn|out)er$'",
                " self (ms)   self %  total (ms)  total %  function\n"
                "    12.000    75.00      12.000    75.00  [2 functions]\n"
                "\n"
                "total (ms)  total %  called by\n"
                "    12.000    75.00  [2 functions]\n"
                "     2.000    12.50  [truncated]\n"
                "\n"
                "total (ms)  total %  calls\n"
                "    12.000    75.00  [2 functions]\n"
                "    12.000    75.00  [itself]\n",
                NULL);
    made_expect(2, "--callers nobody", "",
                "no function is called 'nobody', nor nearly so: --top=0");
    made_expect(2, "--callers report_otuer", "",
                "no function is called 'report_otuer'; the nearest names: 'report_outer'\n");
    made_expect(2, "--list report_iner", "", "the nearest names: 'report_inner'");
    unlink(made_path);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + strlen(part), part))
        count++;
    return count;
}

NOINLINE static int listed(int x)
{
    return report_inner(x) + 1; /* this is shown */
}

Test(views, list)
{
    struct run run;

    made_begin();
    made_own_modules();
    made_sample(1, made_stack(made_inside(listed), NULL, 0, false), 1500000000, 3000000, SFB_END);
    made_end("the program ended");
    run = run_line("'%s' report --list listed %s", SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "     3.000   100.00       3.000   100.00  listed "
                              "(test-report-views)\n\n/") != NULL,
              "%s", run.out);
    /* It was recorded in 2023. Which line the pc is in is the compiler's choice. */
    cr_expect(strstr(run.out,
                     "/profiler/tests/report/views.c\n  (it has changed since it was recorded)\n"
                     " self (ms)   self %  total (ms)  total %    line\n") != NULL,
              "%s", run.out);
    cr_expect(strstr(run.out, "      return report_inner(x) + 1; /* this is shown */\n") != NULL,
              "%s", run.out);
    cr_expect(eq(sz, count_of(run.out, "\n     3.000   100.00       3.000 "), 2), "%s", run.out);
    run_free(&run);
    unlink(made_path);
}

Test(views, threads)
{
    made_all("the program ended");
    made_expect(0, "--threads",
                "total (ms)  total %    samples  unsampl%  thread  name (process)\n"
                "    10.000    62.50          2      0.00     201  main (program 101)\n"
                "     5.500    34.38          2     18.18     202  wor;k\\012 (program 101)\n"
                "     0.500     3.12          0    100.00          [no thread] (program 101)\n",
                NULL);
    unlink(made_path);
}

/* An inlined function has figures as others have; without inlines they are those of the one that contains it. */
Test(views, inlined_functions)
{
    const uint64_t caller = made_inside_inlined();

    made_begin();
    made_own_modules();
    made_sample(1, made_stack(made_inside(report_inner), &caller, 1, false), 1500000000, 3000000,
                SFB_END);
    made_end("the program ended");
    made_expect(0, "--tree",
                " self (ms)   self %  total (ms)  total %  function (module)\n"
                "     0.000     0.00       3.000   100.00  [all]\n"
                "     0.000     0.00       3.000   100.00  report_host (test-report-views)\n"
                "     0.000     0.00       3.000   100.00  report_inlined (test-report-views)\n"
                "     3.000   100.00       3.000   100.00  report_inner (test-report-views)\n",
                NULL);
    made_expect(0, "--tree --no-inlines",
                " self (ms)   self %  total (ms)  total %  function (module)\n"
                "     0.000     0.00       3.000   100.00  [all]\n"
                "     0.000     0.00       3.000   100.00  report_host (test-report-views)\n"
                "     3.000   100.00       3.000   100.00  report_inner (test-report-views)\n",
                NULL);
    made_expect(0, "--folded-ns", "main;report_host;report_inlined;report_inner 3000000\n", NULL);
    unlink(made_path);
}

NOINLINE static int namesake(int x)
{
    return report_inner(x) + 2;
}

/* Static functions of two files are two functions, and the files tell them apart. */
Test(views, functions_of_one_name)
{
    const uint64_t caller = made_inside(namesake) + 1;

    made_begin();
    made_own_modules();
    made_sample(1, made_stack(made_inside(made_namesake()), &caller, 1, false), 1500000000, 3000000,
                SFB_END);
    made_sample(1, made_stack(made_inside(namesake), NULL, 0, false), 1600000000, 1000000, SFB_END);
    made_end("the program ended");
    made_expect(0, "--top",
                " self (ms)   self %  total (ms)  total %  function (module)\n"
                "     3.000    75.00       3.000    75.00  namesake (test-report-views, made.c)\n"
                "     1.000    25.00       4.000   100.00  namesake (test-report-views, views.c)\n",
                NULL);
    unlink(made_path);
}

/* Sources that are not where they were built are found below a folder, by less and less of their path. */
Test(views, list_finds_sources_below_a_folder)
{
    struct run run;

    made_all("the program ended");
    run = run_line("'%s' report --list report_inner %s", SFB_TOOL, made_path);
    cr_expect(strstr(run.out,
                     "/profiler/tests/report/made.c\n  (not here: --symbol-path DIR looks below "
                     "DIR)\n self") != NULL,
              "%s", run.out);
    cr_expect(strstr(run.out, "NOINLINE int") == NULL, "%s", run.out);
    run_free(&run);
    run = run_line("'%s' report --list report_inner --symbol-path '%s/src' --symbol-path '%s' %s",
                   SFB_TOOL, SFB_SOURCE_DIR, SFB_SOURCE_DIR, made_path);
    cr_expect(strstr(run.out, "  NOINLINE int report_inner(int x)\n") != NULL, "%s", run.out);
    run_free(&run);
    unlink(made_path);
}
