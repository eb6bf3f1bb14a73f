/* sfb record as a user meets it: statuses, options, files, and programs that cannot be recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/command.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_cli, .init = folder_enter, .fini = folder_remove);

Test(record_cli, exits_as_the_program_does)
{
    static const struct {
        const char *arguments;
        int status;
    } cases[] = {
        { "$P status 0", 0 },     { "-- $P status 7", 7 },
        { "$P status 125", 125 }, { "$P signal 15", 143 },
        { "$P signal 9", 137 },   { "$P signal 6", 134 },
        { "sh -c 'exit 3'", 3 },  { "--cpu --rate 97 $P status 1", 1 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recorded r = recorded("%s", cases[i].arguments);

        cr_expect(r.run.status == cases[i].status, "%s: %d", cases[i].arguments, r.run.status);
        cr_expect(r.contents->health.finished, "%s", cases[i].arguments);
        recorded_free(&r);
    }
}

/* What cannot be recorded is told in one line, and is not started: it would print something. */
Test(record_cli, says_what_cannot_be_recorded)
{
    static const struct {
        const char *arguments;
        int status;
        const char *says;
    } cases[] = {
        { "", 125, "no program given" },
        { "--frobnicate x", 125, "unknown option" },
        { "--rate 0 x", 125, "no rate" },
        { "--rate 1k x", 125, "no rate" },
        { "--duration -1 x", 125, "no number of seconds" },
        { "--duration 1e-10 x", 125, "no number of seconds" },
        { "--max-size 0 x", 125, "no size" },
        { "--engine tea x", 125, "no engine" },
        { "--pid 0", 125, "no number of a process" },
        { "./not-there", 127, "No such file" },
        { "not-in-the-path", 127, "No such file" },
        { "''", 127, "No such file" },
        { "./text", 126, "Permission denied" },
        { "/", 126, "Permission denied" },
        { "./script-without-interpreter", 127, "/not/there: No such file" },
        { "./no-loader", 127, "does not exist" },
        { "./other-machine", 125, "another machine" },
        { "--heap '" SFB_RECORD_STATIC "'", 125, "the heap takes one" },
        { "--heap ./script-of-static", 125, "statically linked" },
        { "-o /not/there/x ./script", 125, "/not/there/x: No such file" },
        { "-o there ./script", 125, "-f overwrites it" },
        { "-o /dev/full ./script", 125, "No space left" },
        { "--max-size 100 -o new ./script", 125, "too small" },
    };
    static const char program[] = SFB_RECORD_PROGRAM;

    folder_write("text", "hello\n");
    folder_write("there", "mine\n");
    folder_write("script", "#!/bin/sh\necho started\n");
    folder_write("script-without-interpreter", "#!/not/there -x\n");
    folder_write("script-of-static", "#!" SFB_RECORD_STATIC "\n");
    free(command_output("chmod +x script*; cp '%s' no-loader; cp '%s' other-machine; "
                        "perl -pi -e 's/ld-linux/no-linux/' no-loader; "
                        "printf '\\377\\177' | dd of=other-machine bs=1 seek=18 conv=notrunc 2>&1",
                        program, program));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;

        run = run_line("'%s' record %s", SFB_TOOL, cases[i].arguments);
        cr_expect(run.status == cases[i].status, "'%s' exits with %d", cases[i].arguments,
                  run.status);
        cr_expect(strstr(run.err, cases[i].says) != NULL, "'%s': %s", cases[i].arguments, run.err);
        cr_expect(run_count_lines(run.err) == 1, "'%s': %s", cases[i].arguments, run.err);
        cr_expect(run.out_size == 0, "'%s' was started", cases[i].arguments);
        run_free(&run);
    }
    cr_expect_str_eq(text_read("there"), "mine\n");
    cr_expect(access("new", F_OK) != 0, "a file without a recording is left behind");
    cr_expect(access("/dev/full", F_OK) == 0);
}

Test(record_cli, names_the_file_after_the_program_and_its_pid)
{
    struct run run =
        run_line("'%s' record '%s' burn 20 && ls sfb-*.sfbr", SFB_TOOL, SFB_RECORD_PROGRAM);

    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "sfb-record-tool-program-") != NULL, "%s", run.out);
    cr_expect(strstr(run.err, "sfb report sfb-record-tool-program-") != NULL, "%s", run.err);
    run_free(&run);
}

Test(record_cli, overwrites_only_when_asked)
{
    struct run run = run_line("echo mine >a && '%s' record -o a '%s' status 0; echo $? && cat a && "
                              "'%s' record -f -o a '%s' burn 20 >/dev/null; echo $? && head -c 4 a",
                              SFB_TOOL, SFB_RECORD_PROGRAM, SFB_TOOL, SFB_RECORD_PROGRAM);

    cr_expect(strncmp(run.out, "125\nmine\n0\n", 11) == 0, "%s%s", run.out, run.err);
    cr_expect(strstr(run.out + 11, "mine") == NULL, "%s", run.out);
    run_free(&run);
}

/* Its name is known beforehand, to other users of the folder, too. */
Test(record_cli, takes_no_pipe_or_link_for_its_file)
{
    char *text = command_output("cat /proc/sys/kernel/pid_max"), name[64];
    const int most = (int)strtol(text, NULL, 10);
    struct run run;

    /* The kernel gives numbers in a circle, from 300 on. */
    for (int pid = getpid(); pid < getpid() + 4000; pid++) {
        snprintf(name, sizeof name, "sfb-record-tool-program-%d.sfbr",
                 pid < most ? pid : pid - most + 300);
        cr_assert_eq(symlink("/dev/null", name), 0);
    }
    run = run_line("'%s' record '%s' status 0", SFB_TOOL, SFB_RECORD_PROGRAM);
    cr_expect_eq(run.status, 125, "%d: %s", run.status, run.err);
    cr_expect(strstr(run.err, ".sfbr: there is something of that name that is no file") != NULL,
              "%s", run.err);
    run_free(&run);
    free(text);
    if (geteuid() != 0)
        return;
    run = run_line("mkfifo theirs mine; chown 65534 theirs; cat mine >copy & "
                   "'%s' record -o mine '%s' burn 20; wait; "
                   "'%s' record -o theirs '%s' status 0",
                   SFB_TOOL, SFB_RECORD_PROGRAM, SFB_TOOL, SFB_RECORD_PROGRAM);
    cr_expect_eq(run.status, 125, "%d: %s", run.status, run.err);
    cr_expect(strstr(run.err, "theirs: a pipe of another user") != NULL, "%s", run.err);
    run_free(&run);
}

Test(record_cli, keeps_what_was_preloaded_behind_the_agent)
{
    struct run run = run_line("LD_PRELOAD=libm.so.6 '%s' record -o a '%s' print LD_PRELOAD",
                              SFB_TOOL, SFB_RECORD_PROGRAM);

    cr_expect(strstr(run.out, "libsfb-preload-cpu.so:libm.so.6\n") != NULL, "%s%s", run.out,
              run.err);
    run_free(&run);
}

Test(record_cli, leaves_the_program_its_limits_and_signals)
{
    struct run run = run_line("ulimit -Sn 100; trap '' HUP; '%s' record -o a sh -c "
                              "'ulimit -Sn; nice; grep -E \"^Sig(Blk|Ign)\" /proc/self/status'",
                              SFB_TOOL);
    struct run without =
        run_line("ulimit -Sn 100; trap '' HUP; sh -c "
                 "'ulimit -Sn; nice; grep -E \"^Sig(Blk|Ign)\" /proc/self/status'");

    cr_expect_str_eq(run.out, without.out);
    run_free(&run);
    run_free(&without);
}

/* Never an empty recording without a reason: it is in the file, and printed. */
Test(record_cli, says_why_there_are_no_samples)
{
    enum { RECORDINGS = 5 };
    unsigned without = 0;
    struct recorded r;

    /* The first sample comes after a random part of the period, a second: one recording in 600 has one. */
    for (unsigned i = 0; i < RECORDINGS; i++) {
        const char *const says = "no samples: 1 process used ";

        r = recorded("--rate 1 $P sleep 20");
        cr_expect_eq(r.run.status, 0);
        without += r.contents->samples == 0;
        cr_expect_eq(strstr(r.run.err, says) != NULL, r.contents->samples == 0, "%s", r.run.err);
        cr_expect_eq(strstr(r.contents->reason, says) != NULL, r.contents->samples == 0, "%s",
                     r.contents->reason);
        recorded_free(&r);
    }
    cr_expect_geq(without, RECORDINGS - 2);

    r = recorded("--rate 1 env -i $P burn 50"); /* without the agent; env has no sample either */
    cr_expect_eq(r.contents->samples, 0);
    cr_expect(strstr(r.run.err, "no samples: ") != NULL, "%s", r.run.err);
    recorded_free(&r);
}

static void expect_from_outside(const char *line, int status)
{
    struct recorded r = recorded("%s", line);

    cr_expect_eq(r.run.status, status, "%s: %s", line, r.run.err);
    cr_expect_geq(r.contents->engine, SFB_ENGINE_OUTSIDE, "%s: %s", line, r.run.err);
    cr_expect_gt(r.contents->samples, 10, "%s: %s", line, r.run.err);
    cr_expect(r.contents->complete * 10 > r.contents->samples * 9, "%s: %s", line, r.run.err);
    /* The child of sfb before its exec may have a sample, where a start takes some ms. */
    cr_expect_leq(r.contents->process_count, 2, "%s: %s", line, r.run.err);
    recorded_free(&r);
}

Test(record_cli, records_static_programs_from_outside)
{
    expect_from_outside("'" SFB_RECORD_STATIC "' burn 500", 5);
}

/* At the exec that gives them another user's rights the kernel ends the events of all but root. */
Test(record_cli, records_programs_that_the_loader_guards_as_root)
{
    if (geteuid() != 0) {
        SAY_SKIPPED("record_cli: only root makes a program of another user's set-user-ID");
        return;
    }
    free(command_output("cp '%s' raised && chown 65534 raised && chmod u+s raised",
                        SFB_RECORD_PROGRAM));
    expect_from_outside("./raised burn 500", 0);
}

/* What the report says: "code in no module N %"; 0 if it says nothing. */
static double share_in_no_module(const char *file)
{
    struct run run = run_line("'%s' report '%s'", SFB_TOOL, file);
    const char *at = strstr(run.out, "code in no module ");
    double share = at ? strtod(at + strlen("code in no module "), NULL) : 0;

    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    return share;
}

/* A list of modules stands in the recording before the first sample of a program, however short its life. */
Test(record_cli, names_the_functions_of_short_programs)
{
    struct run run = run_line("'%s' record -f -o a sh -c '"
                              "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
                              "%s burn 20; done; true'",
                              SFB_TOOL, SFB_RECORD_PROGRAM);

    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.err, "21 processes") != NULL, "%s", run.err);
    cr_expect_leq(share_in_no_module("a"), 1.0);
    run_free(&run);
}

/* The loader would ignore what it cannot load: the program would run, and nothing would be recorded. */
Test(record_cli, refuses_what_is_no_agent)
{
    static const char *const cases[][2] = {
        { "/etc/passwd", "/etc/passwd is no agent: name the file of libsfb-agent-cpu.so\n" },
        { "/not/there", "/not/there: No such file or directory\n" },
        { "/dev", "/dev is no agent: name the file of libsfb-agent-cpu.so\n" },
        { "other.so",
          "other.so is no agent: it is libother.so: name the file of libsfb-agent-cpu.so\n" },
    };

    free(command_output("echo 'int other;' >other.c; cc -shared -fPIC -Wl,-soname,libother.so "
                        "-o other.so other.c"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run =
            run_line("SFB_AGENT=%s '%s' record -o new echo started", cases[i][0], SFB_TOOL);

        cr_expect_eq(run.status, 125, "%s: %s", cases[i][0], run.err);
        cr_expect(strstr(run.err, cases[i][1]) != NULL, "%s: %s", cases[i][0], run.err);
        cr_expect_eq(run.out_size, 0, "%s", cases[i][0]);
        cr_expect(access("new", F_OK) != 0);
        run_free(&run);
    }
}

/* Either of its two libraries may be named; that of another recording, or one without the other, is no agent. */
Test(record_cli, takes_the_library_that_loads_the_agent)
{
    static const char *const refused[][2] = {
        { "alone/libsfb-preload-cpu.so", "loads libsfb-agent-cpu.so, which is not beside it" },
        { "both/libsfb-agent-heap.so",
          "records the heap: name libsfb-agent-cpu.so, or add --heap" },
        { "both/libsfb-preload-heap.so",
          "records the heap: name libsfb-agent-cpu.so, or add --heap" },
    };
    struct run run;

    free(
        command_output("mkdir alone both && d=$(dirname '%s') && cp $d/libsfb-preload-cpu.so alone "
                       "&& cp $d/libsfb-agent-cpu.so $d/libsfb-preload-cpu.so "
                       "$d/libsfb-agent-heap.so $d/libsfb-preload-heap.so both",
                       SFB_RECORD_AGENT));
    run = run_line("SFB_AGENT=both/libsfb-preload-cpu.so '%s' record -o new '%s' burn 50", SFB_TOOL,
                   SFB_RECORD_PROGRAM);
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.err, "1 process") != NULL, "%s", run.err);
    cr_expect(strstr(run.err, "no samples") == NULL, "%s", run.err);
    run_free(&run);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        run = run_line("SFB_AGENT=%s '%s' record -o other echo started", refused[i][0], SFB_TOOL);
        cr_expect_eq(run.status, 125, "%s: %s", refused[i][0], run.err);
        cr_expect(strstr(run.err, refused[i][1]) != NULL, "%s: %s", refused[i][0], run.err);
        cr_expect_eq(run.out_size, 0, "%s", refused[i][0]);
        run_free(&run);
    }
}

/* What to preload into a program that another command starts. */
Test(record_cli, prints_the_library_to_preload)
{
    static const char *const kinds[] = { "cpu", "heap" };
    struct run run;

    for (size_t i = 0; i < 2; i++) {
        char *want = command_output("realpath \"$(dirname '%s')\"/libsfb-preload-%s.so",
                                    SFB_RECORD_AGENT, kinds[i]);

        run = run_line("'%s' record --print-agent %s", SFB_TOOL, kinds[i]);
        cr_expect_eq(run.status, 0, "%s", run.err);
        cr_expect_str_eq(run.out, want);
        free(want);
        run_free(&run);
    }
    run = run_line("'%s' record --print-agent gpu", SFB_TOOL);
    cr_expect_eq(run.status, 125);
    cr_expect_not_null(strstr(run.err, "'gpu' is no agent: cpu or heap"), "%s", run.err);
    run_free(&run);
}

/* One that was copied alone says what it looked for, and where a user would put it. */
Test(record_cli, names_the_agent_that_is_missing)
{
    struct run run = run_line("mkdir bin && cp '%s' bin/sfb && bin/sfb record true", SFB_TOOL);
    char want[384];

    snprintf(want, sizeof want,
             "the library that is loaded into the program, libsfb-agent-cpu.so, is not in %s/lib",
             folder_path());
    cr_expect_eq(run.status, 125);
    cr_expect(strstr(run.err, want) != NULL, "%s: %s", want, run.err);
    cr_expect(strstr(run.err, "SFB_AGENT") != NULL, "%s", run.err);
    cr_expect(strstr(run.err, "..") == NULL, "%s", run.err);
    cr_expect(strstr(run.err, "profiler/agent") == NULL, "%s", run.err);
    run_free(&run);
}
