/* perf script's text and callgrind's file of sfb report, of recordings with known figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/report_formats/recordings.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_lines, .init = folder_enter, .fini = folder_remove);

static void expect_output(const char *line, const char *want)
{
    struct run run = run_line("%s", line);

    cr_assert(eq(int, run.status, 0), "%s: %s%s", line, run.out, run.err);
    run_expect_text(line, run.out, want);
    run_free(&run);
}

/* --- perf script ------------------------------------------------------------------------------- */

/* Without addresses and paths, which differ from run to run. */
#define WITHOUT_PLACES "sed -E 's/^\\t *[0-9a-f]+ (.*) \\([^ ]*\\)$/\\t\\1/'"

Test(report_lines, perf_script_is_by_time)
{
    recordings_known("r", 0);
    recordings_report("--perf-script=p r");
    expect_output(WITHOUT_PLACES " p", "# ========\n# cmdline : ./pro\\377gram\n# ========\n#\n"
                                       "main 101/201 1700000000.623000000:    6000000 cpu-clock: \n"
                                       "\tformats_inner\n\tformats_outer\n\tformats_outer\n\n"
                                       "main 101/201 1700000000.723000000:    4000000 cpu-clock: \n"
                                       "\tformats_inner\n\tformats_outer\n\tformats_outer\n\n"
                                       "f\xc3\xa4"
                                       "den 101/202 1700000000.823000000:    2000000 cpu-clock: \n"
                                       "\tformats_outer\n\t[truncated]\n\n"
                                       "f\xc3\xa4"
                                       "den 101/202 1700000000.923000000:    2500000 cpu-clock: \n"
                                       "\t[no stack]\n\n");
}

/* A name ends no line and no word: each line is of one of four kinds. */
Test(report_lines, perf_script_has_lines_whatever_names_are)
{
    recordings_hostile("r");
    recordings_report("--perf-script=p r");
    expect_output("grep -vcE '^(#.*|[^ ]+ [0-9]+/[0-9]+ [0-9]+\\.[0-9]{9}: +[0-9]+ cpu-clock: |\t "
                  "*[0-9a-f]+ .+ \\([^ ()]+\\)|)$' p || true",
                  "0\n");
    expect_output("grep -c cpu-clock p", "4\n");
}

/* --- callgrind --------------------------------------------------------------------------------- */

static bool has_reader(void)
{
    struct run run = run_line("command -v callgrind_annotate");
    const bool is_here = run.status == 0;

    run_free(&run);
    return is_here;
}

/* "ns samples name", sorted */
#define ANNOTATED                                                                                  \
    "callgrind_annotate --auto=no --threshold=100 --inclusive=%s c | sed -nE 's/^ *([0-9,]+) "     \
    "\\(.*%%\\) "                                                                                  \
    "+([0-9,]+)( \\(.*%%\\))? +[^ ]*:([][a-z_ ]+|[a-z_]+.2) \\[.*$/\\1 \\2 \\4/p' | LC_ALL=C sort"

static void expect_annotated(const char *inclusive, const char *want)
{
    struct run run = run_line(ANNOTATED, inclusive);

    cr_assert(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_expect_text(inclusive, run.out, want);
    run_free(&run);
}

/* valgrind's own reader. formats_outer calls itself: its inclusive cost has each sample once. */
Test(report_lines, callgrind_annotate_sums_as_we_do)
{
    if (!has_reader())
        cr_skip_test("no callgrind_annotate: valgrind is not installed");
    recordings_known("r", 0);
    recordings_report("--callgrind c r");
    expect_annotated("no", "1,500,000 0 [unsampled]\n"
                           "10,000,000 2 formats_inner\n"
                           "2,000,000 1 formats_outer\n"
                           "2,500,000 1 [no stack]\n");
    expect_annotated("yes", "1,500,000 0 [unsampled]\n"
                            "10,000,000 2 formats_inner\n"
                            "10,000,000 2 formats_outer'2\n"
                            "12,000,000 3 formats_outer\n"
                            "16,000,000 4 [all]\n"
                            "2,000,000 1 [truncated]\n"
                            "2,500,000 1 [no stack]\n");
    expect_output("grep '^summary' c", "summary: 16000000 4\n");
}

Test(report_lines, callgrind_has_lines_whatever_names_are)
{
    recordings_hostile("r");
    recordings_report("--callgrind c r");
    expect_output("sed 1,9d c | grep -vcE '^((fn|cfn|fl|cfi|ob|cob)=\\([0-9]+\\)( "
                  ".+)?|calls=[0-9]+ 0|[0-9]+ [0-9]+ [0-9]+|)$' || true",
                  "0\n");
}

Test(report_lines, nothing_recorded_is_a_file_too)
{
    recordings_empty("r");
    recordings_report("--callgrind c --perf-script=p r");
    expect_output("grep -c '' p; grep summary c", "4\nsummary: 0 0\n");
}
