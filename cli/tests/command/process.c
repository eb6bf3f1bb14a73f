/*
 * `sfb symbolize --pid` of processes whose files are not what they were, that see another root, and
 * that make code at run time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

static bool made;

/*
 * A program that says where f is, and where it has mapped memory for code, and waits; with other.c
 * the same functions lie elsewhere. It is static: it runs in a folder that has nothing else.
 */
#define MAKE                                                                                       \
    "printf '#include <stdio.h>\\n#include <sys/mman.h>\\n#include <unistd.h>\\n"                  \
    "__attribute__((noinline)) int f(int x) { __asm__ volatile(\"nop\"); return x + 1; }\\n"       \
    "int main(void) { char *p = mmap(0, 65536, 7, 34, -1, 0); printf(\"%%%%p %%%%p\\\\n\", "       \
    "(void *)f, p); fflush(stdout); for (;;) pause(); return f(1); }\\n' >prog.c && "              \
    "printf 'int g[9000] = { 1 }; int before(int x) { return g[x] * 3; }\\n' | cat - prog.c "      \
    ">other.c && "                                                                                 \
    "gcc -g -O1 -static -Wl,--build-id=sha1 prog.c -o prog && gcc -g -O1 -static "                 \
    "-Wl,--build-id=sha1 other.c -o other"

static void make_files(void)
{
    struct run run;

    folder_enter();
    run = run_line(MAKE);
    made = run.status == 0;
    run_free(&run);
}

TestSuite(tool_process, .init = make_files, .fini = folder_remove);

/*
 * Runs a line for a process: $P is its number, $F is f and $J its memory for code. `names A` says
 * what is at an address. The process is gone afterwards.
 */
#define START                                                                                      \
    "wait_for() { until test -s $1; do kill -0 $P || exit 99; sleep 0.01; done; }; "               \
    "names() { printf 'pc %%s\\n' $1 | '%s' encode | '%s' symbolize --pid $P; }; "                 \
    "why() { '%s' symbolize --pid $P --why $1; }; "                                                \
    "rm -f said; %s >said & P=$!; trap 'kill -9 $P' EXIT; wait_for said; read F J <said; %s; %s"

static struct run run_process(const char *start, const char *more, const char *line)
{
    struct run run = run_line(START, SFB_TOOL, SFB_TOOL, SFB_TOOL, start, more, line);

    return run;
}

static void expect_text(const struct run *run, const char *line, const char *want)
{
    cr_expect(ne(ptr, strstr(run->out, want), NULL), "%s: no '%s' in:\n%s%s", line, want, run->out,
              run->err);
}

#define NEEDS_PROGRAM                                                                              \
    do {                                                                                           \
        if (!made || SFB_EMULATED)                                                                 \
            cr_skip_test("no gcc that makes programs of this machine");                            \
    } while (0)

/* It was replaced by another build, as a package does it, overwritten in place, or removed. */
Test(tool_process, has_the_file_that_it_was_started_from)
{
    static const struct {
        const char *line, *want, *said;
    } cases[] = {
        { "true", " f+0x0 (prog.c:4) in run", "/run: used\n" },
        { "cp other new && mv new run", " f+0x0 (prog.c:4) in run", "/map_files/" },
        { "rm run", " f+0x0 (prog.c:4) in run", "/map_files/" },
        { "rm run && cp prog run", " f+0x0 (prog.c:4) in run", "/map_files/" },
    };

    NEEDS_PROGRAM;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run =
            run_process("rm -f run; cp prog run; exec ./run", cases[i].line, "names $F; why run");

        if (strstr(run.out, "map_files") && strstr(run.out, "Operation not permitted"))
            cr_skip_test("/proc/PID/map_files is for the administrator");
        expect_text(&run, cases[i].line, cases[i].want);
        expect_text(&run, cases[i].line, cases[i].said);
        cr_expect(eq(int, run.status, 0), "%s: %s", cases[i].line, run.err);
        run_free(&run);
    }
}

/* A copy of the map does not say that a file at the path is another one; that it was deleted, it does. */
Test(tool_process, map_that_names_a_deleted_file_is_believed)
{
    struct run run;

    NEEDS_PROGRAM;
    run = run_process("rm -f run; cp prog run; exec ./run",
                      "rm run; cp other run; cp /proc/$P/maps maps",
                      "names2() { printf 'pc %s\\n' $F | $1 encode | $1 symbolize --maps maps; }; "
                      "names2 '" SFB_TOOL "'");
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    expect_text(&run, "maps", " ? in run\n");
    cr_expect(ne(ptr,
                 strstr(run.err, "/run: the file was deleted, and no build-id tells whether one "
                                 "there is it\n"),
                 NULL),
              "%s", run.err);
    run_free(&run);
}

/* --- another root ------------------------------------------------------------------------------ */

/* In a container: other files under the same names, and it is process 1 there. */
Test(tool_process, may_see_another_root)
{
    struct run run;

    NEEDS_PROGRAM;
    run = run_line(
        "mkdir -p box/tmp; cp prog box/run; unshare --mount --pid --fork --kill-child chroot "
        "box /run >said & P=$!; until test -s said; do kill -0 $P || exit 1; sleep 0.01; done; "
        "kill -9 $P");
    if (run.status != 0)
        cr_skip_test("no unshare(1) and chroot(1) for this user");
    run_free(&run);
    run =
        run_process("exec unshare --mount --pid --fork --kill-child chroot box /run",
                    "Q=$P; P=$(cat /proc/$Q/task/$Q/children); P=${P% }; J2=$(printf '%x' $(($J + "
                    "16))); echo \"$J2 8 made at run time\" >box/tmp/perf-1.map; cp other run; "
                    "trap 'kill -9 $P $Q' EXIT",
                    "names $F; names 0x$J2; why run");
    expect_text(&run, "chroot", " f+0x0 (prog.c:4) in run\n");
    expect_text(&run, "chroot", " made at run time+0x0 in perf-1.map\n");
    expect_text(&run, "chroot", ": used\n  names from symbols and debug information\n");
    run_free(&run);
}

/* --- code that is made at run time ------------------------------------------------------------- */

Test(tool_process, has_names_for_code_of_its_own)
{
    static const struct {
        const char *line, *want, *said;
    } cases[] = {
        { "printf '%x 100 old\\n%x 10 new\\nbad\\n' $J $J >$M", " new+0x8 in perf-",
          "1 line not used, the first is line 3\n" },
        { "printf '%x 8 before\\n' $J >$M", " ? in ?\n", "" },
        { "printf '%x 10 n\\033[2J\\n' $J >$M", " n\\033[2J+0x8 in perf-", "" },
        { "printf '%x 100 theirs\\n' $J >$M; chown 65534 $M", " ? in ?\n",
          "not used: it belongs to another user than the process\n" },
        { "printf '%x 100 theirs\\n' $J >x; ln -s $PWD/x $M", " ? in ?\n",
          "not used: not a regular file\n" },
        { "mkfifo $M", " ? in ?\n", "not used: not a regular file\n" },
        /* A file comes first: a line may be older than it. */
        { "printf '%x 100 old\\n%x 10 new\\n' $F $J >$M; J=$(printf '0x%x' $(($F - 8)))",
          " f+0x0 (prog.c:4) in run", "" },
    };

    NEEDS_PROGRAM;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char before[512];
        struct run run;

        if (strstr(cases[i].line, "chown") && geteuid() != 0)
            continue;
        snprintf(before, sizeof before, "M=/tmp/perf-$P.map; trap 'rm -f $M; kill -9 $P' EXIT; %s",
                 cases[i].line);
        run = run_process("rm -f run; cp prog run; exec ./run", before,
                          "names $(printf '0x%x' $(($J + 8)))");
        expect_text(&run, cases[i].line, cases[i].want);
        cr_expect(eq(int, run.status, 0), "%s: %s", cases[i].line, run.err);
        cr_expect(cases[i].said[0] ? strstr(run.err, cases[i].said) != NULL : !run.err[0], "%s: %s",
                  cases[i].line, run.err);
        run_free(&run);
    }
}

/* A JIT compiler that is not ours. */
Test(tool_process, of_node_has_names_for_its_code)
{
    struct run run = run_line("command -v node");

    if (run.status != 0 || SFB_EMULATED)
        cr_skip_test("node is not installed");
    run_free(&run);
    run = run_process(
        "exec node --perf-basic-prof -e 'function sfb_hot(x) { return x * 3 + 1 } let s "
        "= 0; for (let i = 0; i < 3e6; i++) s += sfb_hot(i); console.log(s, 1); "
        "setInterval(() => 0, 1e6)'",
        "M=/tmp/perf-$P.map; trap 'kill -9 $P; rm -f $M' EXIT; A=$(grep sfb_hot $M | "
        "tail -1 | cut -d' ' -f1)",
        "names 0x$A");
    expect_text(&run, "node", "sfb_hot");
    expect_text(&run, "node", "+0x0 in perf-");
    run_free(&run);
}
