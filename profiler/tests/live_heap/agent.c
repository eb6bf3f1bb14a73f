/* The heap agent with a live table, in programs: preloaded over each allocator, linked in, beside a profiler. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/protocol/live.h"
#include "support/folder.h"
#include "support/run.h"

#define TOOL "'" SFB_TOOL "'"

/* Runs the program with an allocator behind the agent; what follows is done while it waits, with $pid of it. */
#define WITH(allocator, words)                                                                     \
    "mkfifo in out; SFB_HEAP_LIVE=8M LD_PRELOAD='" SFB_HEAP_AGENT " " allocator                    \
    "' '" SFB_AGENT_PROGRAM "' " words                                                             \
    " <in >out 2>err & job=$!; exec 9>in; read -r ready pid <out; "
#define FINISH "; exec 9>&-; wait $job || echo status $?; cat err; rm in out err"

static void enter(void)
{
    folder_enter();
    setenv("XDG_RUNTIME_DIR", folder_path(), 1);
}

static void expect_has(const char *text, const char *part)
{
    cr_expect(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text);
}

TestSuite(agent, .init = enter, .fini = folder_remove);

/* Bytes of all stacks that have a function. */
#define PEARLS(recording)                                                                          \
    TOOL " report --value live --folded=- " recording                                              \
         " | awk '/keep_a_pearl/ { n += $NF } END { print \"pearls\", n + 0 }'"

static void expect_all_right(const char *library, struct run run)
{
    expect_has(run.out, "pearls 100000\n");
    expect_has(run.err, " 0 overwritten, 0 could not be read");
    cr_expect(strstr(run.err, "did not know") == NULL, "%s: %s", library, run.err);
    cr_expect(strstr(run.out, "status") == NULL, "%s: %s", library, run.out);
    run_free(&run);
}

/* What nginx's workers do: at their end they could not remove root's file. */
Test(agent, leaves_no_file_of_a_process_that_has_become_another_user)
{
    static const char *const ways[] = { "setuid", "setreuid", "setresuid" };

    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct run run = run_line(
            "mkfifo in out; SFB_HEAP_LIVE=8M LD_PRELOAD='" SFB_HEAP_AGENT "' '" SFB_AGENT_PROGRAM
            "' user %s <in >out 2>err & job=$!; exec 9>in; read -r ready pid <out; "
            "echo files $(ls | grep -c live); head -c 1 /proc/$pid/map_files/$(sed -n "
            "'s/ .*sfb-heap-.*//p' /proc/$pid/maps) >/dev/null && " TOOL
            " ctl $pid dump -o heap.sfbr && " PEARLS("heap.sfbr") FINISH,
            ways[i]);
        expect_has(run.out, "files 0\n");
        if (strstr(run.err, "Operation not permitted"))
            printf("not read: %s", run.err);
        else
            expect_has(run.out, "pearls 200000\n");
        cr_expect(strstr(run.out, "status") == NULL, "%s: %s%s", ways[i], run.out, run.err);
        run_free(&run);
        run = run_line("rm -f heap.sfbr");
        run_free(&run);
    }
}

/* For a while only: the process is root again at its end. */
Test(agent, keeps_the_file_of_a_process_that_is_another_user_for_now)
{
    struct run run;

    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    run = run_line(WITH("", "user for-now") "echo files $(ls | grep -c live)" FINISH);
    expect_has(run.out, "files 1\n");
    run_free(&run);
}

Test(agent, keeps_what_lives_over_the_c_library)
{
    expect_all_right("glibc", run_line(WITH("", "mixed") TOOL
                                       " ctl $pid dump --check-tails -o heap.sfbr; " PEARLS(
                                           "heap.sfbr") FINISH));
}

static bool has_library(const char *name)
{
    struct run run = run_line("LD_PRELOAD=%s true 2>&1", name);
    const bool has = run.out[0] == '\0';

    run_free(&run);
    return has;
}

#define OVER(library, words)                                                                       \
    if (!has_library(library))                                                                     \
        cr_skip_test("%s is not installed", library);                                              \
    expect_all_right(library, run_line(WITH(library, words) TOOL                                   \
                                       " ctl $pid dump --check-tails -o heap.sfbr; " PEARLS(       \
                                           "heap.sfbr") FINISH))

Test(agent, keeps_what_lives_over_jemalloc)
{
    OVER("libjemalloc.so.2", "mixed 1");
}

Test(agent, keeps_what_lives_over_tcmalloc)
{
    OVER("libtcmalloc_minimal.so.4", "mixed 1");
}

Test(agent, keeps_what_lives_over_mimalloc)
{
    OVER("libmimalloc.so.2", "mixed 2");
}

Test(agent, keeps_what_lives_over_one_that_calls_itself_by_name)
{
    OVER(SFB_BYNAME, "mixed 1");
}

/* jemalloc takes the stacks of its samples by libgcc's unwinder, amid our hooks. */
Test(agent, runs_beside_the_profiler_of_jemalloc)
{
    struct run run;

    if (!has_library("libjemalloc.so.2"))
        cr_skip_test("libjemalloc.so.2 is not installed");
    run = run_line("MALLOC_CONF=prof:true LD_PRELOAD=libjemalloc.so.2 true");
    if (strstr(run.err, "Invalid conf")) {
        printf("this build of jemalloc has no profiler: %s", run.err);
        run_free(&run);
        cr_skip_test("jemalloc was built without its profiler");
    }
    run_free(&run);
    setenv("MALLOC_CONF", "prof:true,lg_prof_sample:10,prof_final:true,prof_prefix:je", 1);
    run = run_line(WITH("libjemalloc.so.2", "mixed 1") TOOL
                   " ctl $pid dump --check-tails -o heap.sfbr; " PEARLS("heap.sfbr") FINISH
                   "; unset MALLOC_CONF; ls je.* | wc -l");
    unsetenv("MALLOC_CONF");
    cr_expect(strstr(run.out, "\n1\n") || strstr(run.out, "\n2\n"), "no profile: %s", run.out);
    expect_all_right("jemalloc", run);
}

Test(agent, keeps_new_over_each_allocator)
{
    static const char *const libraries[] = { "", "libjemalloc.so.2", "libtcmalloc_minimal.so.4",
                                             "libmimalloc.so.2" };

#ifndef SFB_CXX_PROGRAM
    cr_skip_test("there is no C++ compiler");
#else
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        struct run run;

        if (libraries[i][0] && !has_library(libraries[i]))
            continue;
        run = run_line("SFB_HEAP_LIVE=8M SFB_HEAP_SIGNAL=USR2 SFB_HEAP_LOG=log%zu LD_PRELOAD='%s "
                       "%s' '%s' %s && " TOOL
                       " report --value live --folded=- log%zu | awk '/pearls/ "
                       "{ n += $NF } END { print \"pearls\", n + 0 }'",
                       i, SFB_HEAP_AGENT, libraries[i], SFB_CXX_PROGRAM,
                       strstr(libraries[i], "mimalloc") ? "mild" : "", i);
        cr_expect_eq(run.status, 0, "%s: %d: %s", libraries[i], run.status, run.err);
        expect_has(run.out, "pearls 123400\n");
        run_free(&run);
    }
#endif
}

static void expect_bypass(struct run run)
{

    expect_has(run.out, "pearls 100000\n");
    expect_has(run.err, "sfb: some calls of malloc() or free() bypass the agent (RTLD_DEEPBIND, "
                        "__libc_malloc()): ");
    cr_expect(strstr(run.out, "overrun") == NULL, "%s", run.out);
    cr_expect(strstr(run.err, "overrun and") == NULL && strstr(run.err, "did not know") == NULL,
              "%s", run.err);
    cr_expect(strstr(run.out, "status") == NULL, "%s", run.out);
    run_free(&run);
}

static void expect_loss(struct run run)
{
    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.err, "sfb: 1 module with RTLD_DEEPBIND or __libc_malloc(), whose own calls");
    expect_has(run.out, "lost: 1 module with RTLD_DEEPBIND or __libc_malloc(), whose own calls");
    cr_expect(strstr(run.err, "contradicted") == NULL, "%s", run.err);
    run_free(&run);
}

#define BYPASS(library, words)                                                                     \
    WITH(library, words) TOOL " ctl $pid dump -o heap.sfbr && " PEARLS("heap.sfbr") FINISH

/* @param library  preloaded behind the agent */
#define RECORDED_WITH(library, words)                                                              \
    "LD_PRELOAD='" library "' " TOOL " record --heap -o all.sfbr -- '" SFB_AGENT_PROGRAM           \
    "' " words " </dev/null && " TOOL " report all.sfbr"

/* What it hides is counted, and no block is accused. */
Test(agent, knows_that_a_library_with_deepbind_bypasses_it)
{
    expect_bypass(run_line(BYPASS("", "plugin '" SFB_PLUGIN "'")));
    expect_loss(run_line(RECORDED_WITH("", "plugin '" SFB_PLUGIN "'")));
}

Test(agent, knows_that_a_library_with_second_names_bypasses_it)
{
    expect_bypass(run_line(BYPASS(SFB_SECOND, "second '" SFB_SECOND "'")));
    expect_loss(run_line(RECORDED_WITH(SFB_SECOND, "second '" SFB_SECOND "'")));
}

/* The same status, and the C library's message: a table that reads such a block's end may read anywhere. */
Test(agent, leaves_the_end_to_the_allocator_where_no_block_is_freed)
{
    static const char *const cases[] = {
        "middle",           "stack", "again", "4141414141414141", "101010101010101",
        "7f0000000c10",     "21",    "20001", "4000001",          "40000001",
        "ffffffffffffff01", "12",    "0",
    };
    enum { RECORDED = 4 };
    int ended = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run plain, table;

        plain =
            run_line("ulimit -c 0; '%s' frees %s; echo status $?; ", SFB_AGENT_PROGRAM, cases[i]);
        table =
            run_line("ulimit -c 0; export SFB_HEAP_LIVE=8M; LD_PRELOAD='%s' '%s' frees %s; echo "
                     "status $?; rm -f sfb-heap-*",
                     SFB_HEAP_AGENT, SFB_AGENT_PROGRAM, cases[i]);
        cr_expect_str_eq(table.out, plain.out, "%s: %s instead of %s", cases[i], table.out,
                         plain.out);
        cr_expect(strncmp(table.err, plain.err, strcspn(plain.err, "\n")) == 0,
                  "%s: %s instead of %s", cases[i], table.err, plain.err);
        if (i < RECORDED) {
            run_free(&table);
            table = run_line("ulimit -c 0; " TOOL
                             " record -q --heap -o %zu.sfbr -- '%s' frees %s; echo status $?",
                             i, SFB_AGENT_PROGRAM, cases[i]);
            cr_expect_str_eq(table.out, plain.out, "%s: %s instead of %s", cases[i], table.out,
                             plain.out);
        }
        ended += strstr(plain.out, "status 134") != NULL;
        run_free(&plain);
        run_free(&table);
    }
    cr_expect(ended >= 5, "the allocator ended %d", ended);
}

/* Valgrind reports each read of what is not the program's: the agent reads no header there. */
Test(agent, runs_in_valgrind)
{
    struct run run = run_line("valgrind --version");

    if (run.status != 0)
        cr_skip_test("valgrind is not installed");
    run_free(&run);
    run = run_line("SFB_HEAP_LIVE=8M LD_PRELOAD='%s' valgrind -q --error-exitcode=9 '%s' many 100 "
                   "</dev/null; echo status $?; ls",
                   SFB_HEAP_AGENT, SFB_AGENT_PROGRAM);
    expect_has(run.out, "status 0\n");
    cr_expect_str_eq(run.err, "", "%s", run.err);
    run_free(&run);
}

Test(agent, gives_a_child_a_table_of_its_own)
{
    struct run run =
        run_line(WITH("", "forked") TOOL
                 " ctl --list; " TOOL
                 " ctl $pid dump --check-tails -o heap.sfbr; " PEARLS("heap.sfbr") FINISH "; ls");

    expect_has(run.out, "pearls 100000\n");
    expect_has(run.err, " 0 overwritten, 0 could not be read");
    cr_expect(strstr(run.out, "status") == NULL, "%s", run.out);
    cr_expect(strstr(strstr(run.out, "pearls"), "sfb-heap-") == NULL, "%s", run.out);
    run_free(&run);
}

/* Its table begins in a malloc() that came while the program was replacing its environment. */
Test(agent, of_a_child_does_not_read_its_environment)
{
    struct run run = run_line("SFB_HEAP_LIVE=4M LD_PRELOAD='%s' '%s' environ", SFB_HEAP_AGENT,
                              SFB_AGENT_PROGRAM);

    cr_expect_eq(run.status, 0, "%d", run.status);
    run_free(&run);
}

Test(agent, leaves_no_file_of_children_that_call__exit)
{
    struct run run = run_line(WITH("", "exits") TOOL
                              " ctl --list | grep -c \"$XDG_RUNTIME_DIR/sfb-heap-\"" FINISH "; ls");

    expect_has(run.out, "1\n");
    cr_expect(strstr(run.out, "sfb-heap-") == NULL, "%s", run.out);
    cr_expect(strstr(run.out, "status") == NULL, "%s", run.out);
    run_free(&run);
}

Test(agent, can_be_asked_by_the_program_itself)
{
    struct run run = run_line("'%s' linked 3 3>log && " PEARLS("log") "; ls", SFB_LINKED_PROGRAM);

    cr_expect_eq(run.status, 0, "%d: %s", run.status, run.err);
    expect_has(run.out, "pearls 100000\n");
    cr_expect(strstr(run.out, "sfb-heap-") == NULL, "%s", run.out);
    run_free(&run);
}

/* Its caller says where XDG_RUNTIME_DIR is. */
Test(agent, of_a_set_user_id_program_makes_no_file_where_its_caller_says)
{
    struct run run;

    if (geteuid() != 0)
        cr_skip_test("only root can make such a program");
    if (system("setpriv --reuid 65534 --regid 65534 --clear-groups test -r '" SFB_HEAP_AGENT "'") !=
        0)
        cr_skip_test("this build cannot be read by other users");
    run = run_line("mkdir there && chmod 777 . there && cp '%s' mine && chown 65534 mine && chmod "
                   "4755 mine && "
                   "XDG_RUNTIME_DIR=$PWD/there ./mine file",
                   SFB_LINKED_PROGRAM);
    if (strstr(run.out, "secure 0"))
        cr_skip_test("set-user-ID bits do nothing here");
    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, "secure 1 file '" SFB_LIVE_FOLDER "/sfb-heap-");
    run_free(&run);
}

/*
 * A server begins as root, and works as another user. The file stays root's: a user that may write it may write the
 * memory of the process. The next start by root removes it.
 */
Test(agent, removes_the_file_that_a_process_of_another_user_had_to_leave)
{
    struct run run;

    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    run = run_line(WITH("", "drops 65534") "ls -n | grep sfb-heap-" FINISH);
    expect_has(run.out, "-rw------- 1 0 0 ");
    cr_expect(strstr(run.out, "status") == NULL, "%s: %s", run.out, run.err);
    run_free(&run);
    run = run_line("ls | grep -c sfb-heap-");
    cr_expect_str_eq(run.out, "1\n");
    run_free(&run);
    run = run_line(WITH("", "drops 0") "true" FINISH "; ls");
    cr_expect_str_eq(run.out, "");
    run_free(&run);
}

/* Blocks are as large as the program asked for them. */
Test(agent, leaves_the_bytes_that_leak_sanitizer_reports)
{
    static const char program[] = "#include <stdlib.h>\n"
                                  "void *volatile last;\n"
                                  "int main(void) { for (int i = 0; i < 10; i++) last = "
                                  "malloc(100); last = 0; return 0; }\n";
    struct run run;

    folder_write("leak.c", program);
    if (system("cc -fsanitize=leak -fno-builtin leak.c -o leak 2>/dev/null") != 0)
        cr_skip_test("there is no LeakSanitizer");
    run =
        run_line("./leak 2>&1 | grep SUMMARY; SFB_HEAP_LIVE=8M LD_PRELOAD='%s' ./leak 2>&1 | grep "
                 "SUMMARY",
                 SFB_HEAP_AGENT);
    {
        char *second = strchr(run.out, '\n');

        if (!second || strncmp(run.out, "SUMMARY", 7) != 0)
            cr_skip_test("LeakSanitizer does not run here");
        cr_expect_eq(strncmp(run.out, second + 1, (size_t)(second - run.out)), 0, "%s", run.out);
    }
    run_free(&run);
}

#define CRASH(way, environment)                                                                    \
    run_line(environment " '" SFB_CRASHING_PROGRAM "' " way " 2>report; " TOOL                     \
                         " symbolize report; "                                                     \
                         "grep -c ^block report")

/* Whether text has a line for a block, and under it the stack that allocated it. */
static bool has_pearl(const char *text, const char *state)
{
    const char *line = strstr(text, state), *stack = line ? strchr(line, '\n') : NULL;
    const char *end = stack ? strchr(stack + 1, '\n') : NULL;

    return end && memmem(line, (size_t)(stack - line), ", allocated at", 14) &&
           memmem(stack, (size_t)(end - stack), " make_pearl+", 12);
}

/* A register that points into a block: its crash report has the block, and the stack that allocated it. */
Test(agent, tells_a_crash_report_of_blocks)
{
    struct run run = CRASH("inside", "SFB_HEAP_LIVE=8M LD_PRELOAD='" SFB_HEAP_AGENT "'");

    expect_has(run.out, " is 600 bytes into a live block of 608 bytes at 0x");
    cr_expect(has_pearl(run.out, " a live block of 608 bytes at 0x"), "%s", run.out);
    run_free(&run);
    run = CRASH("overrun", "SFB_HEAP_LIVE=8M LD_PRELOAD='" SFB_HEAP_AGENT "'");
    expect_has(run.out, " is 600 bytes into an overrun block of 608 bytes at 0x");
    cr_expect(has_pearl(run.out, " an overrun block of 608 bytes at 0x"), "%s", run.out);
    run_free(&run);
    run = CRASH("outside", "SFB_HEAP_LIVE=8M LD_PRELOAD='" SFB_HEAP_AGENT "'");
    cr_expect(strstr(run.out, " look_into+") && !strstr(run.out, "block of 608"), "%s%s", run.out,
              run.err);
    run_free(&run);
    /* Without the agent, and with an agent that has no table. */
    run = CRASH("inside", "");
    cr_expect(strstr(run.out, " look_into+") && strstr(run.out, "\n0\n"), "%s%s", run.out, run.err);
    run_free(&run);
    run = CRASH("inside", "LD_PRELOAD='" SFB_HEAP_AGENT "'");
    cr_expect(strstr(run.out, " look_into+") && strstr(run.out, "\n0\n"), "%s%s", run.out, run.err);
    run_free(&run);
}

/* A freed block that is used: the stacks that allocated and freed it, in the report and by sfb ctl afterwards. */
Test(agent, tells_a_crash_report_of_freed_blocks)
{
    static const struct {
        const char *way, *freed_at;
    } cases[] = { { "freed", " drop_pearl+" }, { "moved", " move_pearl+" } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line(
            "SFB_HEAP_LIVE=8M SFB_HEAP_FREED=64 LD_PRELOAD='" SFB_HEAP_AGENT
            "' '" SFB_CRASHING_PROGRAM "' %s 2>report; " TOOL " symbolize report >said; cat said; "
            "at=$(sed -n 's/.* is 600 bytes into a freed block of 608 bytes at //p' said | head -n "
            "1); "
            "echo ctl; " TOOL
            " ctl sfb-heap-*.live block $(printf %%x $(($at + 600))); rm sfb-heap-*",
            cases[i].way);
        const char *ctl = strstr(run.out, "\nctl\n");

        cr_expect(has_pearl(run.out, " a freed block of 608 bytes at 0x"), "%s", run.out);
        cr_assert(ctl && strstr(run.out, "\nwhich was freed at\n"), "%s%s", run.out, run.err);
        cr_expect(strstr(strstr(run.out, "\nwhich was freed at\n"), cases[i].freed_at) < ctl, "%s",
                  run.out);
        expect_has(ctl, ": 600 bytes into a freed block of 608 bytes at 0x");
        expect_has(ctl, " make_pearl+");
        expect_has(ctl, "\nand freed at\n");
        expect_has(ctl, cases[i].freed_at);
        run_free(&run);
    }
}

Test(agent, ends_before_a_filter_of_system_calls)
{
    struct run run = run_line("SFB_HEAP_LIVE=4M LD_PRELOAD='%s' '%s' strict; echo status $?; ls",
                              SFB_HEAP_AGENT, SFB_AGENT_PROGRAM);

    expect_has(run.out, "status 0\n");
    cr_expect(strstr(run.out, "sfb-heap-") == NULL, "%s", run.out);
    run_free(&run);
}

/* A thread that comes late finds memory where the table was. */
Test(agent, stops_while_others_use_it)
{
    struct run run = run_line("'%s' stops; ls", SFB_LINKED_PROGRAM);

    cr_expect_eq(run.status, 0, "%d: %s", run.status, run.err);
    cr_expect(strstr(run.out, "sfb-heap-") == NULL, "%s", run.out);
    run_free(&run);
}

Test(agent, says_what_is_wrong_with_the_environment)
{
    static const struct {
        const char *live, *says;
    } cases[] = {
        { "x", "SFB_HEAP_LIVE is not a size from 2M to 4G: no live table: x" },
        { "1M", "SFB_HEAP_LIVE is not a size from 2M to 4G" },
        { "99G", "SFB_HEAP_LIVE is not a size from 2M to 4G" },
        { "64M SFB_HEAP_SIGNAL=NONE", "SFB_HEAP_SIGNAL is not a signal: NONE" },
        { "64M SFB_HEAP_FREED=x", "SFB_HEAP_FREED is not a number of blocks from 1 to 1048576: x" },
        { "64M SFB_HEAP_FREED=1048576", "" },
        { "64M XDG_RUNTIME_DIR=/nowhere", "" },
        { "0", "SFB_HEAP_LIVE is not a size from 2M to 4G" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run =
            run_line("env SFB_HEAP_LIVE=%s LD_PRELOAD='%s' true", cases[i].live, SFB_HEAP_AGENT);

        cr_expect_eq(run.status, 0);
        expect_has(run.err, cases[i].says);
        cr_expect(cases[i].says[0] || !run.err[0], "%s", run.err);
        run_free(&run);
    }
    {
        /* ulimit -f: neither folder may have such a file */
        struct run run =
            run_line("ulimit -f 1000; SFB_HEAP_LIVE=64M LD_PRELOAD='%s' /bin/true", SFB_HEAP_AGENT);

        expect_has(run.err, "no file can be made in $XDG_RUNTIME_DIR or /dev/shm");
        run_free(&run);
    }
}

/* Figures of a machine that others use, too: they are printed, and judged generously. */
Test(agent, dumps_a_million_blocks_quickly)
{
    struct run run = run_line(
        "export SFB_HEAP_LIVE=64M; mkfifo in out; LD_PRELOAD='%s' '%s' many 1000000 <in >out & "
        "job=$!; "
        "exec 9>in; read -r ready pid <out; "
        "t() { s=$(date +%%s%%N); \"$@\" >/dev/null 2>&1; e=$(date +%%s%%N); echo $(( (e - s) / "
        "1000 )); }; "
        "for i in 1 2 3; do echo dump $(t " TOOL " ctl $pid dump) us, tails $(t " TOOL
        " ctl $pid dump --check-tails) us; done; " TOOL " ctl $pid dump --check-tails | tail -1; "
        "exec 9>&-; wait $job",
        SFB_HEAP_AGENT, SFB_AGENT_PROGRAM);

    fputs(run.out, stderr);
    expect_has(run.out, " bytes in all ");
    expect_has(run.err, " 0 overwritten, 0 could not be read");
    run_free(&run);
}
