/* What recording costs, in system calls: of the program when the agent is loaded, and of the recorder. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(record_cost, .init = folder_enter, .fini = folder_remove);

#define COUNTED "'" SFB_RECORD_COUNT_CALLS "' "

/* @return system calls of a line that count_calls runs; -1: nothing can be traced here */
static long calls_of(const char *line)
{
    struct run run = run_line("%s", line);
    const char *last = run.err + strlen(run.err);
    long calls = -1;

    if (run.status == 77) {
        SAY_SKIPPED("record_cost: no program can be traced here");
    } else {
        cr_assert_eq(run.status, 0, "%s: %d: %s", line, run.status, run.err);
        for (unsigned lines = 0; last > run.err && (lines += last[-1] == '\n') < 2;)
            last--;
        calls = strtol(last, NULL, 10);
        cr_assert_gt(calls, 0, "%s: %s", line, run.err);
    }
    run_free(&run);
    return calls;
}

/* What loading the agent adds to a program of so many libraries. */
static long added_by_agent(unsigned libraries)
{
    char line[512];
    long with, alone;

    free(command_output("for i in $(seq %u); do "
                        "cc -shared -o libit$i.so -Wl,-soname,libit$i.so it.o || exit 1; done; "
                        "cc -o of%u main.o -Wl,--no-as-needed $(seq -f ./libit%%g.so %u) "
                        "-Wl,-rpath,.",
                        libraries, libraries, libraries));
    snprintf(line, sizeof line, COUNTED "./of%u", libraries);
    alone = calls_of(line);
    snprintf(line, sizeof line, COUNTED "LD_PRELOAD='%s' ./of%u", SFB_RECORD_AGENT, libraries);
    with = calls_of(line);
    return alone < 0 || with < 0 ? -1 : with - alone;
}

/* Octave has 109 libraries: 642,860 calls were added, by their square and by their size. */
Test(record_cost, of_each_library_is_ten_calls)
{
    enum { FEW = 4, MANY = 44, EACH = 10, ONCE = 100 };
    long few, many;

    free(command_output(
        "printf 'int it;\\n' >it.c; printf 'int main(void) { return 0; }\\n' >main.c; "
        "cc -fPIC -c it.c main.c"));
    few = added_by_agent(FEW);
    many = added_by_agent(MANY);
    if (few < 0 || many < 0)
        return;
    cr_expect_leq(few, ONCE + EACH * FEW);
    cr_expect_leq(many - few, EACH * (MANY - FEW), "%ld with %d libraries, %ld with %d", few, FEW,
                  many, MANY);
}

/* Loading, finding the session, taking a slot and a ring, and the end. No sample: the list of modules comes with the first. */
Test(record_cost, of_a_recorded_program_is_few_calls)
{
    enum { MOST = 130, RUNS = 5 };
    char line[512];
    const long alone = calls_of(COUNTED "/bin/true");
    long recorded;

    if (alone < 0)
        return;
    snprintf(line, sizeof line, "'%s' record --rate 1 -q -f -o it.sfbr " COUNTED "/bin/true",
             SFB_TOOL);
    recorded = calls_of(line);
    /* On a busy machine a call waits, and is made again: the least is what has to be made. */
    for (unsigned i = 1; i < RUNS; i++) {
        const long calls = calls_of(line);

        recorded = calls < recorded ? calls : recorded;
    }
    cr_expect_leq(recorded - alone, MOST, "%ld, and %ld alone", recorded, alone);
}

/* @return what a line says in its first number */
static long number_of(const char *line)
{
    struct run run = run_line("%s", line);
    const long number = strtol(run.out, NULL, 10);

    cr_assert_eq(run.status, 0, "%s: %d: %s", line, run.status, run.err);
    run_free(&run);
    return number;
}

/*
 * What a shell does most. Each slot that a child looks at is a page fault: it looks at one of a process and one ring. 28 were
 * counted, and 32 on a machine whose kernel takes back pages at once.
 */
Test(record_cost, of_a_child_of_fork_is_few_page_faults)
{
    enum { MOST = 40, RUNS = 5 };
    const long alone = number_of("'" SFB_RECORD_CALLS "' forks 300");
    long recorded = LONG_MAX;

    /* A busy machine makes pages anew that the recorder has given back: the least is what has to be. */
    for (unsigned i = 0; i < RUNS; i++) {
        const long faults =
            number_of("'" SFB_TOOL "' record -q -f -o it.sfbr '" SFB_RECORD_CALLS "' forks 300");

        recorded = faults < recorded ? faults : recorded;
    }
    cr_expect(alone > 0 && recorded > alone && recorded < alone + MOST, "%ld, and %ld alone",
              recorded, alone);
}

/* @return -1: not to be had here */
static long recorder_calls(unsigned processes)
{
    char line[512];

    snprintf(line, sizeof line,
             COUNTED "'%s' record -q --engine timer -f -o it.sfbr '%s' spawn %u /bin/true",
             SFB_TOOL, SFB_RECORD_PROGRAM, processes);
    return calls_of(line);
}

/* Of configure's 6,000 processes most are over before the recorder has looked at them. */
Test(record_cost, of_a_short_process_is_few_calls)
{
    enum { FEW = 20, MANY = 120, EACH = 24, RUNS = 12 };
    long few = LONG_MAX, many = LONG_MAX;

    /* The collector looks again at what still runs, and on a busy machine that is more: the least is what has to be. */
    for (unsigned i = 0; i < RUNS && (i == 0 || many - few > EACH * (MANY - FEW)); i++) {
        const long calls = recorder_calls(FEW), more = recorder_calls(MANY);

        if (calls < 0 || more < 0)
            return;
        few = calls < few ? calls : few;
        many = more < many ? more : many;
    }
    cr_expect_leq(many - few, EACH * (MANY - FEW), "%ld of %d processes, %ld of %d", few, FEW, many,
                  MANY);
}
