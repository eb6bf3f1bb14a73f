/*
 * Names on another machine: `sfb collect` puts the files of a report or a process into a tar file,
 * and `sfb symbolize --symbol-path` says the same with what comes out of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

#define CC      SFB_TOOL_PREFIX "gcc -g -O1 -shared -nostdlib -fPIC -Wl,--build-id=sha1 "
#define OBJCOPY SFB_TOOL_PREFIX "objcopy "

static bool made;

/*
 * here/: a library with its debug information in it, one with a separate debug file, two whose debug
 * files dwz has gone over, one without a build-id, and one with a name of 220 letters.
 */
#define MAKE                                                                                       \
    "mkdir here && cd here && "                                                                    \
    "printf 'struct quite_a_long_name_%%s { int first, second; };\\n' $(seq 20) >s.h && "          \
    "for i in 1 2 3 4 5; do printf '#include \"s.h\"\\nstatic inline int in%%d(int x) { return x " \
    "* "                                                                                           \
    "3; }\\nstruct quite_a_long_name_1 v; int f%%d(int x) { return in%%d(x) + v.first; }\\n' $i "  \
    "$i "                                                                                          \
    "$i >s$i.c && " CC "-fno-eliminate-unused-debug-types s$i.c -o s$i.so || exit 1; done && "     \
    "for i in 2 3 4; do " OBJCOPY "--only-keep-debug s$i.so s$i.debug || exit 1; done && "         \
    "{ ! command -v dwz >/dev/null || dwz -m shared.debug s3.debug s4.debug; } && "                \
    "for i in 2 3 4; do " OBJCOPY "-g s$i.so && " OBJCOPY                                          \
    "--add-gnu-debuglink=s$i.debug s$i.so || exit 1; done && " OBJCOPY                             \
    "-R .note.gnu.build-id s5.so && L=$(printf %%0200d 1)/$(printf %%0200d 2) && mkdir -p "        \
    "$(dirname $L) && cp s1.so $L && echo $L >long"

/* A report with a frame in each of them, and in a libc that is here. */
#define REPORT                                                                                     \
    "id() { readelf -n $1 | sed -n 's/.*Build ID: //p'; }; "                                       \
    "at() { printf 'pc 0x%%x\\n' $(($2 + 0x$(" SFB_TOOL_PREFIX                                     \
    "nm $1 | sed -n \"s/ T $3//p\"))); }; "                                                        \
    "L=$PWD/here/$(cat here/long); C=$(readlink -f $(" SFB_TOOL_PREFIX                             \
    "gcc -print-file-name=libc.so.6)); "                                                           \
    "{ echo 'sframe-backtrace: crash: SIGSEGV (11)'; "                                             \
    "printf 'cbf '; for i in 1 2 3 4 5; do at here/s$i.so 0x${i}00000 f$i; done | "                \
    "{ cat; at here/s1.so 0x600000 f1; echo pc 0x726800; } | '%s' encode --hex; "                  \
    "for i in 1 2 3 4 5; do I=$(id here/s$i.so); "                                                 \
    "echo module 0x${i}00000-0x${i}10000 build-id ${I:--} $PWD/here/s$i.so; done; "                \
    "echo module 0x600000-0x610000 build-id $(id $L) $L; "                                         \
    "echo module 0x700000-0x900000 build-id $(id $C) $C; echo end; } >report"

static void make_files(void)
{
    struct run run;

    folder_enter();
    run = run_line(MAKE);
    made = run.status == 0;
    run_free(&run);
}

TestSuite(tool_collect, .init = make_files, .fini = folder_remove);

#define NEEDS_FILES                                                                                \
    do {                                                                                           \
        if (!made)                                                                                 \
            cr_skip_test("no " SFB_TOOL_PREFIX "gcc and objcopy to make files with");              \
    } while (0)

/* Runs a line that has to succeed. */
static struct run expect_run(int status, const char *line)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    cr_assert(eq(int, run.status, status), "%s: status %d:\n%s%s", line, run.status, run.out,
              run.err);
    return run;
}

static void expect_done(int status, const char *line)
{
    struct run run = expect_run(status, line);

    run_free(&run);
}

static void write_report(void)
{
    struct run run = run_line(REPORT, SFB_TOOL);

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
}

Test(tool_collect, gives_the_same_names_where_the_files_are_not)
{
    struct run before, after, without;

    NEEDS_FILES;
    write_report();
    before = expect_run(0, "$SFB symbolize report");
    for (int i = 1; i <= 5; i++) {
        char want[64];

        snprintf(want, sizeof want, "#%d 0x%d", i - 1, i);
        cr_expect(ne(ptr, strstr(before.out, want), NULL), "%s in\n%s", want, before.out);
        snprintf(want, sizeof want, " f%d+0x0 (s%d.c:", i, i);
        cr_expect(ne(ptr, strstr(before.out, want), NULL), "%s in\n%s", want, before.out);
    }
    expect_done(0, "$SFB collect -o files.tar report");
    expect_done(0, "mv here gone && mkdir there && tar -xf files.tar -C there && cmp report "
                   "there/report");
    without = expect_run(1, "$SFB symbolize report");
    cr_expect(ne(ptr, strstr(without.err, "/here/s1.so: No such file or directory"), NULL), "%s",
              without.err);
    after = expect_run(0, "$SFB symbolize --symbol-path there there/report");
    run_expect_text("elsewhere", after.out, before.out);
    run_expect_text("elsewhere", after.err, "");
    run_free(&after);
    /* Without what the file is found by, its path, too. */
    after = expect_run(0, "rm -r there/.build-id/*/*.debug; $SFB symbolize --symbol-path there "
                          "--symbol-path gone report");
    run_expect_text("with the old folder", after.out, before.out);
    run_free(&before);
    run_free(&after);
    run_free(&without);
}

/* GNU tar, and Python's, which is strict. */
Test(tool_collect, writes_what_others_read)
{
    struct run run;

    NEEDS_FILES;
    write_report();
    expect_done(0, "$SFB collect -o files.tar report && $SFB collect -o - <report | cat >again.tar "
                   "&& test $(stat -c %s files.tar) = $(stat -c %s again.tar)");
    expect_done(0, "mkdir there && tar -xf files.tar -C there 2>err && ! test -s err && cmp "
                   "\"there/$PWD/here/s1.so\" here/s1.so && cmp \"there/$PWD/here/$(cat "
                   "here/long)\" here/s1.so && cmp there/$PWD/here/s5.so here/s5.so");
    run = run_line("tar -tf files.tar | sort >names; command -v python3 >/dev/null || exit 77; "
                   "python3 -c 'import tarfile; [print(n) for n in "
                   "tarfile.open(\"files.tar\").getnames()]' | sort | cmp - names");
    if (run.status != 77)
        cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    run = expect_run(0, "cat there/manifest");
    cr_expect(ne(ptr, strstr(run.out, "sfb-collect 1\nmodule "), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "\ndebug .build-id/"), NULL), "%s", run.out);
    cr_expect(eq(int, strstr(run.out, "\nalt .build-id/") != NULL,
                 access("here/shared.debug", F_OK) == 0),
              "%s", run.out);
    run_free(&run);
}

Test(tool_collect, names_what_it_could_not_collect)
{
    struct run run;

    NEEDS_FILES;
    write_report();
    run =
        expect_run(1, "rm here/s1.so; cp here/s3.so here/s2.so; $SFB collect -o files.tar report; "
                      "S=$?; tar -xOf files.tar manifest; exit $S");
    cr_expect(ne(ptr, strstr(run.err, "/here/s1.so: No such file or directory\n"), NULL), "%s",
              run.err);
    cr_expect(ne(ptr,
                 strstr(run.err, "/here/s2.so: not the file that was loaded: its build-id is "),
                 NULL),
              "%s", run.err);
    cr_expect(eq(sz, run_count_lines(run.err), 2), "%s", run.err);
    cr_expect(ne(ptr, strstr(run.out, "/here/s1.so\nmissing file\n"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "/here/s2.so\nmissing file\n"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "/here/s3.so\nfile .build-id/"), NULL), "%s", run.out);
    run_free(&run);
    run = expect_run(1, "cd here && gcc -g -gsplit-dwarf -fPIC -shared -nostdlib s1.c -o split.so "
                        "|| exit 77; echo \"sframe-backtrace: crash: SIGSEGV\nmodule 0x0-0x1000 "
                        "build-id - $PWD/split.so\nend\" | $SFB collect -o split.tar");
    cr_expect(ne(ptr,
                 strstr(run.err, "split.so: not collected: split debug information of 1 unit\n"),
                 NULL),
              "%s", run.err);
    run_free(&run);
    run = expect_run(
        1, "$SFB collect -o none.tar /dev/null; S=$?; test -e none.tar && exit 9; exit $S");
    run_expect_text("no report", run.err,
                    "sfb: /dev/null: no recording, and no crash report is in it\n");
    run_free(&run);
}

/* Who unpacks it stays in his folder, and reads one line for each module. */
Test(tool_collect, of_a_hostile_report_stays_in_its_folder)
{
    struct run run;

    NEEDS_FILES;
    run = expect_run(
        0,
        "cd here; printf 'sframe-backtrace: crash: SIGSEGV\\nmodule 0x0-0x1000 build-id - "
        "%s/../here/./s5.so\\nmodule 0x1000-0x2000 build-id - %s/s5.so\\nmodule 0x3000-0x4000 "
        "build-id - ../here/s1.so\\nmodule 0x5000-0x6000 build-id - "
        "../here/n\\\\012module\\nend\\n' $PWD $PWD >r; cp s1.so \"$(printf 'n\\nmodule')\"; $SFB "
        "collect -o r.tar r && tar -tf r.tar && tar -xOf r.tar manifest | grep -c ^module");
    cr_expect(eq(ptr, strstr(run.out, ".."), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "\nmanifest\n4\n"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "here/n\\nmodule\n"), NULL), "%s", run.out);
    run_free(&run);
}

/* A module whose path is that of the report, of the manifest, or of another module's file. */
Test(tool_collect, of_a_hostile_report_keeps_its_own_members)
{
    struct run run;

    NEEDS_FILES;
    run = expect_run(
        1,
        "cd here; mkdir .build-id; cp s5.so report; cp s1.so manifest; cp s5.so .build-id/s5.so; "
        "cp s5.so maps; printf 'sframe-backtrace: crash: SIGSEGV\nmodule 0x0-0x1000 build-id - "
        "./report\nmodule 0x1000-0x2000 build-id - ./manifest\nmodule 0x3000-0x4000 build-id - "
        "./.build-id/s5.so\nmodule 0x5000-0x6000 build-id - ./maps\nmodule 0x7000-0x8000 build-id "
        "- ./s5.so\nend\n' >r; $SFB collect -o r.tar r; S=$?; tar -xOf r.tar report | cmp - r && "
        "tar -xOf r.tar manifest | grep -c ^module && tar -tf r.tar; exit $S");
    cr_expect(ne(ptr, strstr(run.out, "5\n"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "\ns5.so\n"), NULL), "%s", run.out);
    cr_expect(eq(ptr, strstr(run.out, ".build-id/s5.so"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.err, "report: not collected: "), NULL), "%s", run.err);
    cr_expect(ne(ptr, strstr(run.err, "manifest: not collected: "), NULL), "%s", run.err);
    run_free(&run);
}

/* Who reads it is another user. */
Test(tool_collect, is_written_to_no_pipe_of_another_user)
{
    struct run run;

    NEEDS_FILES;
    if (geteuid() != 0)
        cr_skip_test("only root can make a pipe of another user");
    write_report();
    run = expect_run(2, "mkfifo theirs mine && chown 65534 theirs && { cat mine >copy & } && $SFB "
                        "collect -o mine report && wait && tar -tf copy >/dev/null && $SFB collect "
                        "-o theirs report");
    cr_expect(ne(ptr, strstr(run.err, "theirs: a pipe of another user"), NULL), "%s", run.err);
    run_free(&run);
}

/* --- why --------------------------------------------------------------------------------------- */

Test(tool_collect, symbolize_says_why)
{
    struct run run;

    NEEDS_FILES;
    write_report();
    run = expect_run(0, "$SFB symbolize --why s2.so report");
    cr_expect(ne(ptr, strstr(run.out, "/here/s2.so: build-id "), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "\n  file   "), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, ".debug: not there: No such file or directory\n"), NULL),
              "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "/here/s2.debug: used\n"), NULL), "%s", run.out);
    cr_expect(eq(ptr, strstr(run.out, "s1.so"), NULL), "%s", run.out);
    run_free(&run);
    run = expect_run(
        1, "mv here/s2.so x; mv here/s2.debug here/s2.so.debug; $SFB symbolize --symbol-path here "
           "--why s2.so report || exit 9; rm here/s2.so.debug; $SFB symbolize --why s2.so report");
    cr_expect(ne(ptr, strstr(run.out, "  names from symbols and debug information\n"), NULL), "%s",
              run.out);
    cr_expect(ne(ptr, strstr(run.out, "  names from nowhere\n"), NULL), "%s", run.out);
    run_free(&run);
    run = expect_run(1, "$SFB symbolize --why nothing.so report");
    run_expect_text("none", run.err, "sfb: no module is called 'nothing.so'\n");
    run_free(&run);
    run = expect_run(2, "$SFB symbolize --symbol-path report report");
    run_expect_text("no folder", run.err, "sfb: report: Not a directory\n");
    run_free(&run);
}

/* Said once for each module, however many frames ask, and only if there is nothing better. */
Test(tool_collect, a_file_of_another_build_is_not_used)
{
    struct run run;

    NEEDS_FILES;
    write_report();
    run = expect_run(1, "cp here/s1.so x; cp here/s3.so here/s1.so; cat report report >two; $SFB "
                        "symbolize two");
    cr_expect(ne(ptr,
                 strstr(run.err, "/here/s1.so: not the file that was loaded: its build-id is "),
                 NULL),
              "%s", run.err);
    cr_expect(eq(sz, run_count_lines(run.err), 1), "%s", run.err);
    run_free(&run);
    run =
        expect_run(0, "mkdir -p there/deep && mv x there/deep/s1.so; $SFB symbolize --symbol-path "
                      "there report");
    cr_expect(ne(ptr, strstr(run.out, " f1+0x0 (s1.c:"), NULL), "%s", run.out);
    run_expect_text("stderr", run.err, "");
    run_free(&run);
    run = expect_run(0, "cp here/s1.so here/s2.debug; $SFB symbolize --symbol-path there report");
    cr_expect(ne(ptr, strstr(run.err, "/here/s2.debug: not used: its build-id is "), NULL), "%s",
              run.err);
    cr_expect(ne(ptr, strstr(run.out, " f2+0x0 in s2.so"), NULL), "%s", run.out);
    run_free(&run);
}
