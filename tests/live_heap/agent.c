/* The heap agent with a live table, in programs: preloaded over each allocator, linked in, beside a profiler. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/live.h"
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
        { "x", "SFB_HEAP_LIVE is no size from 2M to 4G, and nothing is kept: x" },
        { "1M", "SFB_HEAP_LIVE is no size from 2M to 4G" },
        { "99G", "SFB_HEAP_LIVE is no size from 2M to 4G" },
        { "64M SFB_HEAP_SIGNAL=NONE", "SFB_HEAP_SIGNAL is no signal: NONE" },
        { "64M XDG_RUNTIME_DIR=/nowhere", "" },
        { "0", "SFB_HEAP_LIVE is no size from 2M to 4G" },
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
