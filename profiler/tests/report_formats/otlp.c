/*
 * OTLP profiles of sfb report, of recordings with known figures, as protoc shows them without a schema: fields by their
 * numbers. ./dev readers decodes them with OpenTelemetry's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/report_formats/recordings.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_otlp, .init = folder_enter, .fini = folder_remove);

static void expect_output(const char *line, const char *want)
{
    struct run run = run_line("%s", line);

    cr_assert(eq(int, run.status, 0), "%s: %s%s", line, run.out, run.err);
    run_expect_text(line, run.out, want);
    run_free(&run);
}

static bool has_protoc(void)
{
    struct run run = run_line("command -v protoc");
    const bool is_here = run.status == 0;

    run_free(&run);
    return is_here;
}

#define DECODED "protoc --decode_raw <o >t && "
Test(report_otlp, has_all_of_it)
{
    if (!has_protoc())
        cr_skip_test("no protoc: protobuf-compiler is not installed");
    recordings_known("r", 0);
    recordings_report("--otlp o --label service=checkout,version=1.2,env=a r");
    /* Two profiles: three rows with samples, and five with time. */
    expect_output(DECODED "grep -c '^        4: \"' t; grep -c '^      7: \"' t", "8\n2\n");
    expect_output(
        "sed -nE 's/^ +1: \"(service|host|process|deployment)/\\1/p' t",
        "service.name\"\nservice.version\"\ndeployment.environment.name\"\n"
        "host.name\"\nprocess.pid\"\nprocess.executable.name\"\nprocess.executable.path\"\n");
    expect_output("grep -c 'formats_inner' t", "1\n");
    /* Time and duration of both profiles. */
    expect_output("grep -cE '^      3: 0x17979cfe3[0-9a-f]+$' t; grep -c '^      4: 2500000000$' t",
                  "2\n2\n");
}

/* The same bytes each time: a receiver knows a profile again. */
Test(report_otlp, equal_recordings_give_equal_files)
{
    recordings_known("r", 0);
    recordings_report("--otlp a r");
    recordings_report("--otlp b r");
    expect_output("cmp a b", "");
}

Test(report_otlp, names_are_text)
{
    if (!has_protoc())
        cr_skip_test("no protoc: protobuf-compiler is not installed");
    recordings_hostile("r");
    recordings_report("--otlp o r");
    expect_output(DECODED "grep -c '\\\\\\\\377</script>' t", "3\n");
    recordings_empty("r");
    recordings_report("--otlp o r");
    expect_output(
        DECODED "cat t",
        "2 {\n  7: \"\"\n  2: \"\"\n  3: \"\"\n  1: \"\"\n  4: \"\"\n  6: \"\"\n  5: \"\"\n}\n");
}
