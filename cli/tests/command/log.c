/*
 * Backtraces in the lines of a log: `sfb encode --log` writes them, `sfb symbolize` finds them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

#define PROGRAM SFB_SOURCE_DIR "/fixtures/elf/v1/amd64/prog_sig"

/* The program, as /proc/PID/maps would have it; main is at 0x1070. */
#define MAPS                                                                                       \
    "400000-401000 r--p 00000000 08:01 1 " PROGRAM "\n"                                            \
    "401000-402000 r-xp 00001000 08:01 1 " PROGRAM "\n"

#define MAIN   "#0 0x401070 main+0x0 in prog_sig\n"
#define CALLED "pc 0x401070\nra 0x401071\nend\n"
#define STACK  MAIN "#1 0x401071 main+0x1 in prog_sig\n"

static void make_folder(void)
{
    folder_enter();
    folder_write("maps", MAPS);
}

TestSuite(tool_log, .init = make_folder, .fini = folder_remove);

/* What a shell made of it. */
static struct run expect_run(int status, const char *line)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    cr_expect(eq(int, run.status, status), "%s: status %d: %s", line, run.status, run.err);
    return run;
}

static void expect_output(int status, const char *line, const char *out, const char *err)
{
    struct run run = expect_run(status, line);

    run_expect_text(line, run.out, out);
    run_expect_text(line, run.err, err);
    run_free(&run);
}

/* Each number of bytes behind the last whole group of base64; coreutils read it. */
Test(tool_log, lines_are_base64_behind_a_prefix)
{
    static const char *const frames[] = { "end", "pc 0x1", "pc 0x1234", "pc 0x123456",
                                          "pc 0x12345678\\nra 0x401200\\nomit 7" };

    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        struct run run = run_line("printf '%s' >text && '%s' encode --log text >log && grep -c "
                                  "'^~c#[A-Za-z0-9+/]*=*$' log && sed 's/^~c#//' log | base64 -d "
                                  ">bytes && '%s' encode text | cmp - bytes",
                                  frames[i], SFB_TOOL, SFB_TOOL);

        cr_expect(eq(int, run.status, 0), "%s: %s", frames[i], run.err);
        run_expect_text(frames[i], run.out, "1\n");
        run_free(&run);
    }
}

Test(tool_log, are_found_anywhere_in_any_line)
{
    folder_write("frames", CALLED);
    expect_output(0,
                  "C=$($SFB encode --log frames); printf '%s\\n' \"$C\" 'nothing' \"10:00 app[1]: "
                  "grew by 5: $C; more\" \"$C $C\" >log; printf '<%s' \"$C\" >>log; "
                  "$SFB symbolize --maps maps log",
                  "line 1\n" STACK "\nline 3: 10:00 app[1]: grew by 5:\n" STACK "\nline 4\n" STACK
                  "\nline 4\n" STACK "\nline 5: <\n" STACK,
                  "");
}

/* Both in one log, in their order, each with its own modules. */
Test(tool_log, and_crash_reports_come_in_order)
{
    folder_write("frames", CALLED);
    expect_output(
        0,
        "C=$($SFB encode --log frames); printf '%s\\n' \"a $C\" 'sframe-backtrace: crash: SIGSEGV "
        "(11)' \"cbf $(printf 'pc 0x11070' | $SFB encode --hex)\" \"b $C\" 'module "
        "0x10000-0x20000 build-id - " PROGRAM "' end \"c $C\" >log; $SFB symbolize --maps maps log",
        "line 1: a\n" STACK "\nSIGSEGV (11)\n#0 0x11070 main+0x0 in prog_sig\n\nline 4: b\n" STACK
        "\nline 7: c\n" STACK,
        "");
}

/* What a user names may be a pipe; what a report names may not. */
Test(tool_log, are_read_from_a_pipe)
{
    folder_write("frames", CALLED);
    expect_output(0,
                  "mkfifo in; $SFB encode --log frames >in & $SFB symbolize --maps maps in; S=$?; "
                  "wait; exit $S",
                  "line 1\n" STACK, "");
}

Test(tool_log, need_modules_to_be_named)
{
    folder_write("frames", CALLED);
    expect_output(
        1, "{ $SFB encode --log frames; $SFB encode --log frames; } | $SFB symbolize",
        "line 1\n#0 0x401070 ? in ?\n#1 0x401071 ? in ?\n\n"
        "line 2\n#0 0x401070 ? in ?\n#1 0x401071 ? in ?\n",
        "sfb: standard input: line 1: give --pid or --maps to name the functions of it\n");
}

/* Cut at each letter: one error, which names the line, and the next line is read. */
Test(tool_log, that_are_cut_off_are_one_error_each)
{
    struct run whole;

    folder_write("frames", CALLED);
    whole = run_line("'%s' encode --log frames", SFB_TOOL);
    for (size_t size = 3; size < whole.out_size - 1; size++) {
        struct run run =
            run_line("printf 'x\\n%.*s\\n%.*s\\n' >log; '%s' symbolize --maps maps log", (int)size,
                     whole.out, (int)whole.out_size - 1, whole.out, SFB_TOOL);
        char *behind = strstr(run.out, "line 3\n");

        cr_expect(eq(int, run.status, 1), "%zu: %s", size, run.err);
        cr_expect(eq(int, strncmp(run.err, "sfb: log: line 2: ", 18), 0), "%s", run.err);
        cr_expect(eq(sz, run_count_lines(run.err), 1), "%s", run.err);
        cr_assert(ne(ptr, behind, NULL), "%zu: %s", size, run.out);
        run_expect_text("behind", behind, "line 3\n" STACK);
        run_free(&run);
    }
    run_free(&whole);
}

Test(tool_log, that_are_damaged_are_one_error_each)
{
    static const struct {
        const char *base64, *cause;
    } cases[] = {
        { "", "nothing behind ~c#" },
        { "Ag==", "backtrace+0x1: terminator: data ends without end or trunc" },
        { "AhAB", "backtrace+0x1: opcode: first address is relative" },
        { "AhpAEA=", "base64 that is cut off" },
        { "A===", "base64 that is cut off" },
        { "AB==", "base64 with bits behind its end" },
        { "AhgFAAA=", "backtrace+0x4: trailing data: data behind the end" },
        { "/w==", "backtrace+0x0: info byte: CBF version not supported" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[256];
        struct run run =
            run_line("printf '~c#%s\n' | '%s' symbolize --maps maps -", cases[i].base64, SFB_TOOL);

        snprintf(want, sizeof want, "sfb: standard input: line 1: %s\n", cases[i].cause);
        cr_expect(eq(int, run.status, 1));
        run_expect_text(cases[i].base64, run.err, want);
        run_free(&run);
    }
}

/*
 * A hundred million letters, and fewer of what costs more. Each takes a second or so; what would
 * cost their square, or a line of output for each letter, would not end.
 */
Test(tool_log, of_any_size_cost_no_more_than_it)
{
    static const struct {
        const char *make, *out, *err;
        int status;
    } cases[] = {
        { "printf '~c#'; head -c 100000000 /dev/zero | tr '\\0' A", "",
          "sfb: big: line 1: a backtrace of more than 1 MiB\n", 1 },
        { "yes '~c#' | tr -d '\\n' | head -c 21000000", "",
          "sfb: big: line 1: nothing behind ~c#\n", 1 },
        { "head -c 20000000 /dev/zero | tr '\\0' '~'; $SFB encode --log frames", "line 1: ~~~~", "",
          0 },
        { "echo 'sframe-backtrace: crash: SIGSEGV (11)'; printf 'cbf 021d'; head -c 20000000 "
          "/dev/zero | tr '\\0' 0; printf '\\nend\\n'",
          "SIGSEGV (11)\n", "sfb: big: +0x9: trailing data: ", 1 },
    };

    folder_write("frames", CALLED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run =
            run_line("SFB='%s'; { %s; } >big; ulimit -t 20; $SFB symbolize --maps maps big",
                     SFB_TOOL, cases[i].make);

        cr_expect(eq(int, run.status, cases[i].status), "%zu: status %d: %s", i, run.status,
                  run.err);
        cr_expect(eq(int, strncmp(run.out, cases[i].out, strlen(cases[i].out)), 0), "%zu: %.200s",
                  i, run.out);
        cr_expect(eq(int, strncmp(run.err, cases[i].err, strlen(cases[i].err)), 0), "%zu: %.200s",
                  i, run.err);
        cr_expect(lt(sz, run.out_size + strlen(run.err), 1000));
        run_free(&run);
    }
}

/* A few bytes may say "a million times left out". */
Test(tool_log, that_repeat_an_omission_are_one_line)
{
    expect_output(0,
                  "printf '\\002\\102\\212\\017\\377\\377\\000' | base64 | sed 's/^/~c#/' | $SFB "
                  "symbolize --maps maps -",
                  "line 1\n... 3 frames omitted\n... 3 frames omitted (1048575 times)\n", "");
}
