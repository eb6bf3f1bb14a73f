/* `sfb stack`: what it prints of programs of all kinds, and what it says where it cannot. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

/* Waits for input in three functions, and ends with it. */
#define PROGRAM                                                                                    \
    "printf '#include <stdio.h>\\n#include <unistd.h>\\nvolatile int sink; char byte;\\n"          \
    "__attribute__((noinline)) int inner(void) { int n = (int)read(0, &byte, 1); sink++; "         \
    "return n; }\\n__attribute__((noinline)) int outer(void) { int n = inner(); sink++; return "   \
    "n; "                                                                                          \
    "}\\nint main(void) { int n; puts(\"there\"); fflush(stdout); n = outer(); sink++; "           \
    "return n < 0; }\\n' >prog.c"

static bool has_compiler;

static void make_program(void)
{
    struct run run;

    folder_enter();
    run = run_line(PROGRAM " && gcc -O1 -Wl,--build-id=sha1 prog.c -o prog");
    has_compiler = run.status == 0;
    run_free(&run);
}

TestSuite(stack, .init = make_program, .fini = folder_remove);

/*
 * Runs a line for a process of ./run, which sleeps in inner(): $P is its number. It ends with the shell's descriptor 3, and the
 * line's status is the result.
 */
#define WITH_PROCESS                                                                               \
    "%s; mkfifo in out; ./run <in >out & P=$!; exec 3>in; read there <out; "                       \
    "until grep -q '^0 ' /proc/$P/syscall || grep -q '^63 ' /proc/$P/syscall; do :; done; "        \
    "%s; S=$?; exec 3>&-; wait $P; exit $S"

static struct run with_process(const char *before, const char *line)
{
    return run_line(WITH_PROCESS, before, line);
}

static void expect_text(const struct run *run, const char *name, const char *want)
{
    cr_expect(strstr(run->out, want) != NULL, "%s: no '%s' in:\n%s%s", name, want, run->out,
              run->err);
}

#define NEEDS_PROGRAM                                                                              \
    do {                                                                                           \
        if (!has_compiler)                                                                         \
            cr_skip_test("no gcc that makes programs of this machine");                            \
    } while (0)

static const char show[] = "'" SFB_TOOL "' stack $P";

/* However it was linked, and whatever became of its file since. */
Test(stack, names_the_frames_of_all_kinds_of_programs)
{
    static const struct {
        const char *name, *before, *line;
        bool tables; /* false: of a C library without them */
    } cases[] = {
        { "dynamic", "cp prog run", "true", true },
        { "static", "gcc -O1 -static prog.c -o run", "true", true },
        { "static, without its table", "gcc -O1 -static -Wl,--no-eh-frame-hdr prog.c -o run",
          "true", true },
        { "static-pie", "gcc -O1 -static-pie prog.c -o run", "true", true },
        { "musl", "musl-gcc -O1 prog.c -o run || gcc -O1 prog.c -o run", "true", false },
        { "musl, static", "musl-gcc -static -O1 prog.c -o run || gcc -O1 prog.c -o run", "true",
          false },
        { "in another mount namespace, where its file is alone, if it may have one",
          "mkdir sub; printf '#!/bin/sh\nunshare -m true 2>/dev/null || exec ./prog\n"
          "exec unshare -m sh -c \"mount -t tmpfs none sub && cp prog sub/run && exec sub/run\"\n' "
          ">run; chmod +x run",
          "true", true },
        { "its file was removed", "cp prog run", "rm run", true },
        { "its file was replaced", "cp prog run", "echo >other && mv other run", true },
    };

    NEEDS_PROGRAM;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        struct run run;

        snprintf(line, sizeof line, "%s; %s; rm -f run in out", cases[i].line, show);
        run = with_process(cases[i].before, line);
        cr_expect(eq(int, run.status, 0), "%s: %s", cases[i].name, run.err);
        if (cases[i].tables)
            expect_text(&run, cases[i].name, "1 thread, of which 0 stopped for a moment\n");
        expect_text(&run, cases[i].name, "asleep in read on fd 0 (");
        expect_text(&run, cases[i].name, " inner+0x");
        expect_text(&run, cases[i].name, " outer+0x");
        expect_text(&run, cases[i].name, " main+0x");
        cr_expect(cases[i].tables == false || strstr(run.out, "truncated") == NULL, "%s: %s",
                  cases[i].name, run.out);
        run_free(&run);
        run = run_line("rm -f run in out");
        run_free(&run);
    }
}

/* Even where another build of it lies there, and no other user may read its file by /proc/PID/map_files. */
Test(stack, reads_a_file_that_is_gone_from_memory)
{
    struct run run;

    NEEDS_PROGRAM;
    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    run = with_process(
        "chmod 777 .; cp prog run; chmod 755 run prog",
        "kill $P; exec 3>&-; rm -f in out; mkfifo in out; chmod 666 in out; "
        "setpriv --reuid 65534 --regid 65534 --clear-groups ./run <in >out & P=$!; "
        "exec 3>in; read there <out; rm run; "
        "until grep -q '^0 ' /proc/$P/syscall || grep -q '^63 ' /proc/$P/syscall; do :; "
        "done; setpriv --reuid 65534 --regid 65534 --clear-groups '" SFB_TOOL "' stack $P --json");
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    expect_text(&run, "by another user", "\"end\":\"outermost\"");
    run_free(&run);
}

Test(stack, writes_json)
{
    const json_t *thread, *frames;
    json_error_t error;
    json_t *all;
    struct run run;

    NEEDS_PROGRAM;
    run = with_process("cp prog run", "'" SFB_TOOL "' stack $P --json");
    all = json_loads(run.out, 0, &error);
    cr_assert(all != NULL, "%s in %s", error.text, run.out);
    thread = json_array_get(json_object_get(all, "threads"), 0);
    frames = json_object_get(thread, "frames");
    cr_expect(eq(int, strcmp(json_string_value(json_object_get(thread, "state")), "S"), 0));
    cr_expect(eq(
        int,
        strcmp(json_string_value(json_object_get(json_object_get(thread, "call"), "name")), "read"),
        0));
    cr_expect(eq(int, strcmp(json_string_value(json_object_get(thread, "end")), "outermost"), 0));
    cr_expect(json_array_size(frames) >= 4);
    json_decref(all);
    run_free(&run);
}

/* The same frames as in the text, by another command. */
Test(stack, writes_cbf)
{
    struct run run;

    NEEDS_PROGRAM;
    run = with_process("cp prog run",
                       "'" SFB_TOOL "' stack $P | grep '^#' >text; '" SFB_TOOL
                       "' stack $P --cbf | '" SFB_TOOL "' symbolize --pid $P - | cmp text -");
    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_free(&run);
}

/* Its memory has the numbers of its own PID namespace. */
Test(stack, names_the_owner_of_a_mutex_in_another_pid_namespace)
{
    struct run run;

    NEEDS_PROGRAM;
    run = run_line("unshare -pf true 2>why || exit 77; gcc -pthread '" SFB_SOURCE_DIR
                   "/examples/deadlock.c' -o run || exit 1; unshare -pf --kill-child ./run & U=$!; "
                   "until P=$(cat /proc/$U/task/$U/children) && test -n \"$P\" && P=${P%% } && "
                   "'" SFB_TOOL
                   "' stack $P >stacks 2>why && test $(grep -c 'that thread' stacks) = 2; do :; "
                   "done; kill -9 $P; wait; grep \"a mutex that thread $P holds\" stacks");
    if (run.status == 77)
        SAY_SKIPPED("stack: this user may make no PID namespace");
    else
        cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_free(&run);
}

Test(stack, shows_children_behind_their_parents)
{
    struct run run;

    NEEDS_PROGRAM;
    run = with_process("cp prog run", "'" SFB_TOOL "' stack $$ --children");
    expect_text(&run, "the child", "\"run\": 1 thread");
    cr_expect(strstr(run.out, "process ") == run.out);
    run_free(&run);
}

Test(stack, watches_until_the_process_ends)
{
    struct run run;

    NEEDS_PROGRAM;
    run = with_process(
        "cp prog run",
        "'" SFB_TOOL "' stack --watch 0.01 $P >rounds 2>why 3>&- & W=$!; "
        "until test \"$(grep -c '^---' rounds)\" -ge 3; do :; done; exec 3>&-; wait $P; "
        "wait $W; echo status $?; cat why");
    expect_text(&run, "watch", "status 2\n");
    cr_expect(strstr(run.out, "no such process") || strstr(run.out, "it has ended") ||
                  strstr(run.out, "it ends just now"),
              "%s", run.out);
    run_free(&run);
}

/* It is made without any library, and writes nothing. */
Test(stack, refuses_32_bit_programs_by_name)
{
    struct run run;

    NEEDS_PROGRAM;
    run = run_line(
        "printf 'void _start(void) { for (;;) __asm__ volatile(\"int $0x80\" : : "
        "\"a\"(29)); }' >small.c; gcc -m32 -nostdlib -static -fno-pic -o small small.c "
        "2>/dev/null || exit 77; ./small & P=$!; trap 'kill $P' EXIT; "
        "until readlink /proc/$P/exe | grep -q small; do kill -0 $P 2>/dev/null || exit 77; "
        "done; '%s' stack $P",
        SFB_TOOL);
    if (run.status == 77)
        SAY_SKIPPED("stack: no 32-bit programs are made or run here");
    else
        cr_expect(strstr(run.err, "it is a 32-bit program (i386)") != NULL, "%s", run.err);
    run_free(&run);
}

Test(stack, says_what_is_wrong)
{
    static const struct {
        const char *arguments, *want;
    } cases[] = {
        { "", "no process and no core given" },
        { "x", "x: No such file or directory" },
        { "1 2", "more than one process or core given" },
        { "0", "'0' is no number of a process; a file of that name is ./0" },
        { "000", "'000' is no number of a process" },
        { "-- -1", "'-1' is no number of a process" },
        { "2147483648", "'2147483648' is no number of a process" },
        { "99999999999999999999999", "'99999999999999999999999' is no number of a process" },
        { "./0", "./0: No such file or directory" },
        { "--thread x 1", "'x' is no thread's number" },
        { "--watch 0 1", "'0' is no number of seconds" },
        { "--thread 1 --children 1", "--thread is of one process" },
        { "2147483647", "process 2147483647: no such process" },
        { "--thread 2147483647 $$", "it has no such thread" },
        { "-p 1", "the process stands alone: 'sfb stack PID'" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' stack %s", SFB_TOOL, cases[i].arguments);

        cr_expect(eq(int, run.status, 2), "%s", cases[i].arguments);
        cr_expect(strstr(run.err, cases[i].want) != NULL, "%s: %s", cases[i].arguments, run.err);
        run_free(&run);
    }
}
