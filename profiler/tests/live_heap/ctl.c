/* sfb ctl: what lives in a process that runs, that was killed, or that ends; and what a log says of it. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/protocol/live.h"
#include "support/folder.h"
#include "support/run.h"

#define TOOL "'" SFB_TOOL "'"

enum { WORDS_MAX = 24 };

struct program {
    pid_t pid;
    int in; /* a byte lets it go on */
};

/* Starts the program with words, and waits until it says that it is ready. Its tables are in the test's folder. */
static struct program start(const char *words, const char *environment)
{
    static char name[] = SFB_LIVE_PROGRAM, copy[512];
    char *arguments[WORDS_MAX] = { name };
    int in[2], out[2], count = 1;
    char line[6] = "";
    struct program p;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *at = copy, *word; (word = strsep(&at, " ")) && count < WORDS_MAX - 1;)
        arguments[count++] = word;
    cr_assert_eq(pipe2(in, O_CLOEXEC), 0);
    cr_assert_eq(pipe2(out, O_CLOEXEC), 0);
    p.pid = fork();
    cr_assert(p.pid >= 0);
    if (p.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        setenv("SFB_HEAP_LIVE", "4M", 0);
        if (environment) {
            char *value = strdup(environment);

            value[strcspn(value, "=")] = '\0';
            setenv(value, value + strlen(value) + 1, 1);
        }
        execv(SFB_LIVE_PROGRAM, arguments);
        _exit(127);
    }
    p.in = in[1];
    close(in[0]);
    close(out[1]);
    for (size_t n = 0; n < 5; n++)
        if (read(out[0], line + n, 1) != 1)
            break;
    cr_assert_str_eq(line, "ready", "'%s' says '%s'", words, line);
    close(out[0]);
    return p;
}

/* @return its status, as wait() has it */
static int finish(const struct program *p, bool kill_it)
{
    int status;

    if (kill_it)
        kill(p->pid, SIGKILL);
    else if (write(p->in, "\n", 1) != 1)
        cr_assert_fail("it does not read");
    close(p->in);
    cr_assert_eq(waitpid(p->pid, &status, 0), p->pid);
    return status;
}

/* Waits until the process runs another program. */
static void wait_until_it_is(const struct program *p, const char *end)
{
    char link[64], found[512];
    ssize_t size;

    snprintf(link, sizeof link, "/proc/%d/exe", (int)p->pid);
    do {
        sched_yield();
        size = readlink(link, found, sizeof found - 1);
        found[size > 0 ? size : 0] = '\0';
    } while (strlen(found) < strlen(end) || strcmp(found + strlen(found) - strlen(end), end) != 0);
}

static void enter(void)
{
    folder_enter();
    setenv("XDG_RUNTIME_DIR", folder_path(), 1);
}

static void expect_has(const char *text, const char *part)
{
    cr_expect(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text);
}

TestSuite(ctl, .init = enter, .fini = folder_remove);

/* --- dumps ---------------------------------------------------------------------------------------- */

Test(ctl, dumps_a_process_that_runs)
{
    struct program p = start("blocks 1000 100 free 4 wait", NULL);
    struct run run = run_line(TOOL " ctl %d dump", (int)p.pid), report;

    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, "750 blocks 75000 bytes in all ~h#");
    folder_write("log", run.out);
    run_free(&run);
    finish(&p, false);

    report = run_line(TOOL " report --top --no-pager log");
    cr_expect_eq(report.status, 0, "%s", report.err);
    expect_has(report.out, "make_a_pearl (");
    run_free(&report);
}

Test(ctl, writes_a_recording_with_the_same_in_it)
{
    struct program p = start("blocks 1000 100 blocks 10 7 wait", NULL);
    struct run run =
        run_line(TOOL " ctl %d dump -o heap.sfbr && " TOOL
                      " report --folded=- heap.sfbr | awk '{ n += $NF } END { print n }'",
                 (int)p.pid);

    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, "heap.sfbr: 1010 blocks, 100070 bytes\n100070\n");
    run_free(&run);
    run = run_line(TOOL " ctl %d dump -o heap.sfbr", (int)p.pid);
    cr_expect_eq(run.status, 2);
    expect_has(run.err, "heap.sfbr exists; -f overwrites it");
    run_free(&run);
    finish(&p, false);
}

Test(ctl, dumps_while_four_threads_allocate)
{
    struct program p = start("blocks 500 10 churn 4 wait", NULL);

    for (int i = 0; i < 5; i++) {
        struct run run = run_line(TOOL " ctl %d dump --check-tails >log%d && " TOOL
                                       " report --top --no-pager log%d",
                                  (int)p.pid, i, i);

        cr_expect_eq(run.status, 0, "%s", run.err);
        expect_has(run.err, " 0 overwritten, 0 could not be read");
        expect_has(run.out, "churn (");
        run_free(&run);
    }
    finish(&p, true);
}

Test(ctl, dumps_a_process_that_was_killed)
{
    struct program p = start("blocks 300 1000 churn 2 wait", NULL);
    struct run run;

    cr_assert(WIFSIGNALED(finish(&p, true)));
    run = run_line(TOOL " ctl --list");
    expect_has(run.out, "  gone      ");
    run_free(&run);
    run = run_line(TOOL " ctl %d dump --check-tails -o heap.sfbr && " TOOL
                        " report --top --no-pager heap.sfbr",
                   (int)p.pid);
    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.err, "the process is gone: no tails can be looked at");
    expect_has(run.out, "make_a_pearl (");
    run_free(&run);
    run = run_line(TOOL " ctl --list --remove && ls");
    expect_has(run.out, "  removed   ");
    cr_expect(strstr(run.out, "\nsfb-heap-") == NULL, "%s", run.out);
    run_free(&run);
}

/* Room for 4,096 stacks, of which each has one block. */
Test(ctl, says_that_the_table_of_stacks_was_full)
{
    struct program p = start("stacks 6000 wait", "SFB_HEAP_LIVE=2M");
    struct run run =
        run_line(TOOL " ctl %d dump -o heap.sfbr; " TOOL " report --no-pager heap.sfbr; " TOOL
                      " ctl %d dump >log; " TOOL " report --no-pager log",
                 (int)p.pid, (int)p.pid);

    expect_has(run.err, "the table of stacks was full: ");
    expect_has(run.out, "The table of stacks was full: ");
    expect_has(run.out, "[no stack]");
    run_free(&run);
    finish(&p, true);
}

/* --- files ---------------------------------------------------------------------------------------- */

Test(ctl, has_nothing_to_list_after_a_clean_exit)
{
    struct program p = start("blocks 10 10 wait", NULL);
    struct run run = run_line(TOOL " ctl --list --remove");

    expect_has(run.out, "  running   ");
    run_free(&run);
    cr_expect_eq(finish(&p, false), 0);
    /* Other tables of this user may be in /dev/shm. */
    run = run_line(TOOL " ctl --list | grep \"$XDG_RUNTIME_DIR/\"; ls");
    cr_expect_str_eq(run.out, "");
    run_free(&run);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;

    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        count++;
    }
    return count;
}

static int files_here(void)
{
    struct run run = run_line("ls | grep -c '^sfb-heap-'");
    const int count = atoi(run.out);

    run_free(&run);
    return count;
}

/* The next one that begins has removed the older ones. One that runs is not counted. */
Test(ctl, finds_the_newest_three_that_were_killed)
{
    struct program runs = start("blocks 10 10 wait", NULL), p;
    struct run run;

    for (int i = 0; i < 5; i++) {
        p = start("blocks 10 10 wait", NULL);
        finish(&p, true);
    }
    p = start("blocks 10 10 wait", NULL);
    cr_expect_eq(files_here(), 2 + 3);
    run = run_line(TOOL " ctl --list | grep \"$XDG_RUNTIME_DIR/\"");
    cr_expect_eq(count_of(run.out, "  running   "), 2, "%s", run.out);
    cr_expect_eq(count_of(run.out, "  gone      "), 3, "%s", run.out);
    run_free(&run);
    finish(&p, false);
    finish(&runs, false);
}

Test(ctl, removes_what_exec_and__exit_leave_behind)
{
    struct program p = start("blocks 10 10 wait exec", NULL), q = start("wait exit", NULL);
    struct run run;

    cr_assert_eq(write(p.in, "\n", 1), 1); /* cat waits at the same pipe */
    cr_expect_eq(finish(&q, false), 0);
    wait_until_it_is(&p, "/cat");
    run = run_line(TOOL " ctl --list --remove && ls");
    cr_expect_eq(count_of(run.out, "  removed   "), 2, "%s", run.out);
    cr_expect_eq(count_of(run.out, folder_path()), 2, "%s", run.out);
    cr_expect(strstr(run.out, "\nsfb-heap-") == NULL, "%s", run.out);
    run_free(&run);
    finish(&p, true);
}

Test(ctl, says_what_it_cannot_do)
{
    static const struct {
        const char *arguments, *says;
        int status;
    } cases[] = {
        { "", "no process given", 2 },
        { "12", "what is to be done?", 2 },
        { "12 drop", "'drop' is nothing that can be done", 2 },
        { "--remove", "--remove goes with --list", 2 },
        { "--list 12", "--list goes with --remove alone", 2 },
        { "1 dump", "process 1 has no live table here", 2 },
        { "/dev/null dump", "no file", 2 },
        { "nothing dump", "No such file", 2 },
        { "text dump", "not a live table", 2 },
        { "1 dump --at-peak", "--at-peak needs -o FILE", 2 },
        { "1 dump --every x", "--every: 'x' is no time in seconds", 2 },
        { "text dump --every 1", "'text' is no number of a process: --every and", 2 },
        { "0 dump", "'0' is no number of a process", 2 },
        { "0 status", "'0' is no number of a process", 2 },
        { "0 mark x", "'0' is no number of a process", 2 },
        { "0 dump --every 1", "'0' is no number of a process", 2 },
        { "4294967297 dump --every 1", "'4294967297' is no number of a process", 2 },
        { "4294967297 marks", "'4294967297' is no number of a process", 2 },
        { "99999999999999999999 dump", "'99999999999999999999' is no number of a process", 2 },
        { "99999999999999999999 stop", "'99999999999999999999' is no number of a process", 2 },
        { "-- -1 status", "'-1' is no number of a process", 2 },
        { "1 mark", "mark takes one name", 2 },
        { "-o x 1 mark y", "mark takes no option", 2 },
    };

    folder_write("text", "a text");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line(TOOL " ctl %s", cases[i].arguments);

        cr_expect_eq(run.status, cases[i].status, "%s: %d", cases[i].arguments, run.status);
        expect_has(run.err, cases[i].says);
        run_free(&run);
    }
}

/* --- overruns ------------------------------------------------------------------------------------- */

Test(ctl, names_who_allocated_what_was_overrun)
{
    struct program p = start("blocks 100 100 overrun 3 wait", NULL);
    struct run run = run_line(TOOL " ctl %d dump --check-tails -o heap.sfbr", (int)p.pid);

    cr_expect_eq(run.status, 1);
    expect_has(run.out, "overrun: 3 live and 0 freed blocks");
    expect_has(run.out, "make_a_pearl+");
    expect_has(run.err, "100 tails looked at: 3 overwritten, 0 could not be read");
    run_free(&run);
    run = run_line(TOOL " report --no-pager heap.sfbr");
    expect_has(
        run.out,
        "1: 3 blocks written past their end, of which 3 live, 100.00 % of all\n  make_a_pearl ");
    run_free(&run);
    run = run_line(TOOL " ctl %d dump --check-tails >log", (int)p.pid);
    cr_expect_eq(run.status, 1);
    run_free(&run);
    run = run_line(TOOL " report --top --no-pager log");
    expect_has(run.out, "overrun: 3 live and 0 freed blocks");
    expect_has(run.out, "make_a_pearl+");
    run_free(&run);
    finish(&p, true);
}

Test(ctl, names_who_allocated_what_was_overrun_and_freed)
{
    struct program p = start("blocks 100 100 overrun 3 free 1 wait", NULL);
    struct run run =
        run_line(TOOL " ctl %d dump >log; " TOOL " report --top --no-pager log", (int)p.pid);

    expect_has(run.err, "3 blocks were overrun and then freed");
    expect_has(run.out, "overrun: 0 live and 3 freed blocks");
    expect_has(run.out, "make_a_pearl+");
    run_free(&run);
    finish(&p, false);
}

/* A clean exit leaves the file, whose table has the stacks. */
Test(ctl, has_what_was_overrun_after_a_clean_exit)
{
    struct run run =
        run_line("SFB_HEAP_LIVE=4M '" SFB_LIVE_PROGRAM "' blocks 100 100 overrun 3 free 1");

    cr_expect_eq(run.status, 0);
    expect_has(run.err, " has written past the end of 3 blocks: sfb ctl ");
    run_free(&run);
    run = run_line(TOOL " ctl sfb-heap-*.live dump -o heap.sfbr; " TOOL
                        " report --no-pager heap.sfbr");
    expect_has(
        run.out,
        "1: 3 blocks written past their end, of which 0 live, 100.00 % of all\n  make_a_pearl ");
    run_free(&run);
    run = run_line("SFB_HEAP_LIVE=4M '" SFB_LIVE_PROGRAM "' blocks 100 100 free 1; ls");
    cr_expect_str_eq(run.err, "");
    expect_has(run.out, ".live"); /* of the first one: the next start keeps it */
    run_free(&run);
}

/* --- one block -------------------------------------------------------------------------------------- */

Test(ctl, knows_the_block_of_an_address)
{
    struct program p = start("blocks 100 100 where it overrun 1 wait", NULL);
    struct run run =
        run_line("at=$(cat it); " TOOL " ctl %d block $(printf %%x $((0x$at + 16))); " TOOL
                 " ctl %d block 0x$at; " TOOL " ctl %d block $(printf %%x $((0x$at + 101)))",
                 (int)p.pid, (int)p.pid, (int)p.pid);

    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, ": 16 bytes into a live block of 100 bytes at 0x");
    expect_has(run.out, ": 0 bytes into a live block of 100 bytes at 0x");
    expect_has(run.out, ": 1 bytes past the end of a live block of 100 bytes at 0x");
    expect_has(run.out, ", written past its end, which was allocated at\n#0 ");
    expect_has(run.out, " make_a_pearl+");
    run_free(&run);
    run = run_line(TOOL " ctl %d block 10", (int)p.pid);
    cr_expect_eq(run.status, 1);
    expect_has(run.err, "0x10 is in no live block\n");
    cr_expect_str_eq(run.out, "");
    run_free(&run);
    run = run_line(TOOL " ctl %d block here; " TOOL " ctl %d block; " TOOL " ctl -o x %d block 1",
                   (int)p.pid, (int)p.pid, (int)p.pid);
    cr_expect_eq(run.status, 2);
    expect_has(run.err, "'here' is no address");
    expect_has(run.err, "block takes one address");
    expect_has(run.err, "block takes no option");
    run_free(&run);
    finish(&p, true);
    run = run_line(TOOL " ctl sfb-heap-*.live block $(cat it)");
    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, " make_a_pearl+");
    run_free(&run);
}

/* --- marks, and many dumps -------------------------------------------------------------------------- */

/* A program that goes on where the shell writes a byte to 8, and says so to 9: `go`. */
#define STEPS(words)                                                                               \
    "mkfifo in out; SFB_HEAP_LIVE=4M '" SFB_LIVE_PROGRAM "' " words " <in >out & pid=$!; "         \
    "exec 8>in 9<out; ready() { read -r line <&9; }; go() { echo >&8; ready; }; ready; "

Test(ctl, shows_what_was_allocated_between_two_marks)
{
    struct run run =
        run_line(STEPS("blocks 10 100 wait blocks 20 7 wait free 2 blocks 3 50 wait") TOOL
                 " ctl $pid mark first; go; " TOOL " ctl $pid mark second; go; " TOOL
                 " ctl $pid dump --since first --until second -o between; " TOOL
                 " ctl $pid dump --since second -o after; " TOOL
                 " ctl $pid dump --until first -o before; " TOOL " ctl $pid dump -o all; " TOOL
                 " ctl $pid marks | sed 's/.* s  //'; exec 8>&-; wait");

    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, "between: 10 blocks, 70 bytes\n");
    expect_has(run.out, "after: 3 blocks, 150 bytes\n");
    expect_has(run.out, "before: 5 blocks, 500 bytes\n");
    expect_has(run.out, "all: 18 blocks, 720 bytes\n");
    expect_has(run.out, "         5             500  [start]\n"
                        "        10              70  first\n"
                        "         3             150  second\n");
    run_free(&run);
}

/* 15 marks at a time: the oldest one without live blocks makes room. */
Test(ctl, gives_up_marks_without_blocks)
{
    struct run run = run_line(
        STEPS("blocks 10 100 wait blocks 20 7 wait") "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 "
                                                     "15; do " TOOL " ctl $pid mark m$i || exit 3; "
                                                     "[ $i != 1 ] || go; done; " TOOL
                                                     " ctl $pid mark again; " TOOL
                                                     " ctl $pid mark again; " TOOL
                                                     " ctl $pid mark ''; " TOOL
                                                     " ctl $pid marks | sed 's/.* //' | tr '\\n' ' "
                                                     "'; " TOOL
                                                     " ctl $pid dump --since m2; exec 8>&-; wait");

    expect_has(run.out, "next [start] m1 m3 m4 ");
    expect_has(run.out, " m15 again ");
    expect_has(run.err, ": no mark: it has a mark of this name\n");
    expect_has(run.err, ": no mark: a mark's name has 1 to 32 bytes\n");
    expect_has(run.err, ": no mark is called 'm2': sfb ctl ");
    run_free(&run);
    run = run_line(TOOL " ctl /dev/null mark x");
    cr_expect_eq(run.status, 2);
    run_free(&run);
}

/*
 * The file is rewritten by a look that finds more; the last one comes at the process's end. What is freed is freed when the peak
 * was seen: a look may come in the middle of what is allocated, too.
 */
Test(ctl, keeps_the_dump_of_the_peak)
{
    struct run run = run_line(STEPS(
        "blocks 10 100 wait blocks 90 1000 wait free 2 wait") "mkfifo said; " TOOL
                                                              " ctl $pid dump --at-peak --every "
                                                              "0.001 -o peak >said 8>&- & exec "
                                                              "7<said; "
                                                              "read -r a <&7; go; while read -r b "
                                                              "<&7 && [ \"${b#*: 100 }\" = \"$b\" "
                                                              "]; do :; done; go; "
                                                              "exec 8>&-; wait; echo $a; echo $b; "
                                                              "cat <&7; " TOOL
                                                              " report --leaks peak; ls");

    expect_has(run.out,
               "peak: 10 blocks, 1000 bytes\npeak: 100 blocks, 91000 bytes\nlive at the end: ");
    expect_has(run.out, " in 100 blocks");
    cr_expect(strstr(run.out, ".new-") == NULL, "%s", run.out);
    run_free(&run);
}

Test(ctl, dumps_again_and_again_until_the_process_ends)
{
    struct run run =
        run_line(STEPS("blocks 10 100 wait") "mkdir a.b; mkfifo said; " TOOL
                                             " ctl $pid dump --every 0.001 -o a.b/heap.sfbr >said "
                                             "8>&- & exec 7<said; "
                                             "read -r a <&7; read -r b <&7; exec 8>&-; cat <&7 "
                                             ">rest; wait; echo $a; echo $b; ls a.b");

    expect_has(run.out, "a.b/heap-1.sfbr: 10 blocks, 1000 bytes\n"
                        "a.b/heap-2.sfbr: 10 blocks, 1000 bytes\n"
                        "heap-1.sfbr\n");
    run_free(&run);
    run = run_line(STEPS("blocks 10 100 wait") TOOL
                   " ctl $pid dump --every 0.001 -o none/heap; echo status $?; exec 8>&-; wait");
    expect_has(run.err, "ctl: none/heap-1: No such file");
    expect_has(run.out, "status 2\n");
    run_free(&run);
}

/* --- by the process itself ------------------------------------------------------------------------ */

Test(ctl, reads_what_the_process_writes_by_itself)
{
    struct program p = start("blocks 100 100 overrun 2 dump own.log wait", NULL);
    struct run run = run_line(TOOL " report --top --no-pager own.log");

    expect_has(run.out, "make_a_pearl (");
    expect_has(run.out, "overrun: 2 live and 0 freed blocks");
    run_free(&run);
    finish(&p, true);
}

Test(ctl, reads_what_a_signal_makes_it_write)
{
    struct program p;
    struct run run;
    char setting[300];

    snprintf(setting, sizeof setting, "SFB_HEAP_LOG=%s/signal.log", folder_path());
    setenv("SFB_HEAP_SIGNAL", "SIGUSR2", 1);
    p = start("blocks 100 100 signal wait", setting);
    unsetenv("SFB_HEAP_SIGNAL");
    run = run_line(TOOL " report --top --no-pager signal.log");
    expect_has(run.out, "make_a_pearl (");
    run_free(&run);
    finish(&p, true);
}

/* --- logs ----------------------------------------------------------------------------------------- */

Test(ctl, reads_a_log_in_which_other_lines_stand_too)
{
    struct program p = start("blocks 50 20 wait", NULL), q = start("blocks 60 20 wait", NULL);
    struct run run =
        run_line("(echo hello; " TOOL " ctl %d dump) >one; " TOOL " ctl %d dump >two; "
                 /* line by line in turn, each with a time, as a journal has them */
                 "paste -d '\\n' one two | sed 's/^/Nov 22 12:00:00 host app: /' >log; " TOOL
                 " report --folded=- log | awk '{ n += $NF } END { print n }'",
                 (int)p.pid, (int)q.pid);

    expect_has(run.out, "2200\n");
    cr_expect_str_eq(run.err, "");
    run_free(&run);
    finish(&p, true);
    finish(&q, true);
}

Test(ctl, writes_lines_that_symbolize_takes_as_backtraces)
{
    struct program p = start("blocks 50 20 wait", NULL);
    struct run run =
        run_line(TOOL " ctl %d dump >log; " TOOL " symbolize --pid %d log", (int)p.pid, (int)p.pid);

    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, "make_a_pearl+");
    run_free(&run);
    finish(&p, true);
}

Test(ctl, says_what_a_log_lacks)
{
    struct program p = start("blocks 50 20 wait", NULL);
    struct run run =
        run_line(TOOL " ctl %d dump >log; head -n -1 log >cut; grep -v '~c#' log >none; "
                      "sed '1d' log >headless; " TOOL " report --top --no-pager cut",
                 (int)p.pid);

    cr_expect_eq(run.status, 1);
    expect_has(run.err, "has no end");
    expect_has(run.out, "make_a_pearl (");
    run_free(&run);
    run = run_line(TOOL " report --top --no-pager none");
    expect_has(run.err, "0 of 1 stack is there");
    cr_expect_eq(run.status, 1);
    run_free(&run);
    run = run_line(TOOL " report --top --no-pager headless");
    expect_has(run.err, "the line that begins the dump is missing");
    cr_expect_eq(run.status, 1);
    run_free(&run);
    finish(&p, true);
}

/* --- maps that nobody wrote ----------------------------------------------------------------------- */

static void copy_of_a_map(const struct program *p)
{
    struct run run = run_line("cp sfb-heap-%d-*.live map && ls", (int)p->pid);

    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
}

enum { SLOT = sizeof(struct sfb_live_slot), SPARSE = 1 << 30 };

static struct sfb_live head_of(const char *path)
{
    struct sfb_live head;
    const int fd = open(path, O_RDONLY);

    cr_assert(fd >= 0 && read(fd, &head, sizeof head) == (ssize_t)sizeof head);
    close(fd);
    return head;
}

static void write_map(const struct sfb_live *head, const void *parts, size_t size)
{
    const int fd = open("bomb", O_RDWR | O_CREAT | O_TRUNC, 0600);

    cr_assert(fd >= 0 && pwrite(fd, head, sizeof *head, 0) == (ssize_t)sizeof *head);
    cr_assert_eq(pwrite(fd, parts, size, SFB_LIVE_PAGE), (ssize_t)size);
    cr_assert_eq(ftruncate(fd, (off_t)head->size), 0);
    close(fd);
}

/* What the command costs and writes. */
static void expect_cheap(const char *what, uint64_t most_output)
{
    static char tool[] = SFB_TOOL, ctl[] = "ctl", bomb[] = "bomb", dump[] = "dump";
    static char *arguments[] = { tool, ctl, bomb, dump, NULL };
    struct rusage used;
    struct stat output;
    int status;
    pid_t pid = fork();

    cr_assert(pid >= 0);
    if (pid == 0) {
        dup2(open("out", O_RDWR | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        execv(tool, arguments);
        _exit(127);
    }
    cr_assert_eq(wait4(pid, &status, 0, &used), pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) <= 2, "%s: %x", what, status);
#if !defined(__SANITIZE_ADDRESS__)
    cr_expect(used.ru_maxrss <= 64 * 1024, "%s: %ld KiB", what, used.ru_maxrss);
    cr_expect(used.ru_utime.tv_sec + used.ru_stime.tv_sec < 1, "%s: %ld s", what,
              used.ru_utime.tv_sec + used.ru_stime.tv_sec);
#endif
    cr_expect(stat("out", &output) == 0 && (uint64_t)output.st_size <= most_output, "%s: %ld bytes",
              what, (long)output.st_size);
}

/* 4 KiB that say they are a gigabyte. */
Test(ctl, takes_no_memory_for_what_a_file_only_says)
{
    struct program p = start("blocks 10 10 wait", NULL);
    static const uint8_t nothing[16];
    struct sfb_live head, all;

    copy_of_a_map(&p);
    finish(&p, true);
    head = head_of("map");
    head.size = SPARSE;
    head.slots_at = head.stacks_at = head.pieces_at = head.lists_at = SFB_LIVE_PAGE;
    head.slot_room = (SPARSE - SFB_LIVE_PAGE) / SLOT;
    head.stack_room = head.piece_room = (SPARSE - SFB_LIVE_PAGE) / SFB_LIVE_CELL;
    head.lists_size = SPARSE - SFB_LIVE_PAGE;
    head.slots_used = 1;
    head.stacks.used = head.stack_room;
    head.pieces.used = head.piece_room;
    write_map(&head, nothing, sizeof nothing);
    expect_cheap("parts that are one", 0);

    /* The same, each part by itself. */
    all = head;
    all.lists_size = 0;
    for (int i = 0; i < 3; i++) {
        head = all;
        /* The large one is the last. */
        head.slots_at = SFB_LIVE_PAGE + (i == 0 ? 128 : 0);
        head.stacks_at = SFB_LIVE_PAGE + (i == 1 ? 128 : 16);
        head.pieces_at = SFB_LIVE_PAGE + (i == 2 ? 128 : 64);
        head.slot_room = head.slots_used = i == 0 ? all.slot_room - 8 : 1;
        head.stack_room = head.stacks.used = i == 1 ? all.stack_room - 4 : 1;
        head.piece_room = head.pieces.used = i == 2 ? all.piece_room - 4 : 1;
        head.lists_at = SFB_LIVE_PAGE;
        write_map(&head, nothing, sizeof nothing);
        expect_cheap(i == 0 ? "slots" : i == 1 ? "stacks" : "pieces", 4096);
    }
}

/* A page of slots at each 256 KiB of four gigabytes: holes are passed over wherever they begin. */
Test(ctl, reads_no_more_than_a_file_has)
{
    enum { EVERY = 1 << 18 };
    struct program p = start("blocks 10 10 wait", NULL);
    static const uint8_t nothing[16];
    struct sfb_live head;
    int fd;

    copy_of_a_map(&p);
    finish(&p, true);
    head = head_of("map");
    head.size = SFB_LIVE_SIZE_MAX;
    head.slots_at = (uint64_t)2 * SFB_LIVE_PAGE;
    head.slot_room = head.slots_used = (uint32_t)((head.size - head.slots_at) / SLOT);
    head.stacks_at = SFB_LIVE_PAGE;
    head.stack_room = head.stacks.used = 1;
    head.pieces_at = SFB_LIVE_PAGE + 64;
    head.piece_room = head.pieces.used = 1;
    head.lists_at = SFB_LIVE_PAGE + 128;
    head.lists_size = 0;
    write_map(&head, nothing, sizeof nothing);
    fd = open("bomb", O_RDWR);
    for (uint64_t at = head.slots_at; at < head.size; at += EVERY) {
        static const struct sfb_live_slot slot = { .block = 1 };

        cr_assert_eq(pwrite(fd, &slot, sizeof slot, (off_t)at), (ssize_t)sizeof slot);
    }
    close(fd);
    expect_cheap("a page here and there", 4096);
}

/* All stacks have the same pieces, or pieces that are a ring. */
Test(ctl, tells_each_byte_of_a_stack_once)
{
    enum { STACKS = 5000, PIECES = 160 };
    struct program p = start("blocks 10 10 wait", NULL);
    const size_t at_stacks = 64, at_pieces = at_stacks + (size_t)STACKS * SFB_LIVE_CELL,
                 size = at_pieces + (size_t)PIECES * SFB_LIVE_CELL;
    uint8_t *parts = calloc(1, size);
    struct sfb_live head;

    cr_assert(parts);
    copy_of_a_map(&p);
    finish(&p, true);
    head = head_of("map");
    head.slots_at = SFB_LIVE_PAGE;
    head.slot_room = head.slots_used = 4;
    head.stacks_at = SFB_LIVE_PAGE + at_stacks;
    head.stack_room = head.stacks.used = STACKS;
    head.pieces_at = SFB_LIVE_PAGE + at_pieces;
    head.piece_room = head.pieces.used = PIECES;
    head.lists_at = SFB_LIVE_PAGE + size;
    head.lists_size = 0;
    head.size = sfb_live_pages_up(SFB_LIVE_PAGE + size);
    for (int ring = 0; ring < 2; ring++) {
        for (uint32_t i = 1; i < STACKS; i++) {
            const struct sfb_live_stack stack = { .next = 1,
                                                  .state = SFB_LIVE_STACK,
                                                  .hash = i,
                                                  .cbf_size = 4000,
                                                  .list = (uint16_t)head.list,
                                                  .overruns = 1 };

            memcpy(parts + at_stacks + (size_t)i * SFB_LIVE_CELL, &stack, sizeof stack);
        }
        for (uint32_t i = 1; i < PIECES; i++) {
            const struct sfb_live_piece piece = { .next = ring ? i % 16 + 1 : i + 1 };

            memcpy(parts + at_pieces + (size_t)i * SFB_LIVE_CELL, &piece, sizeof piece);
        }
        write_map(&head, parts, size);
        expect_cheap(ring ? "a ring" : "one stack", 16 * 1024);
    }
    free(parts);
}

/* --- who may say what lives in a process ----------------------------------------------------------- */

/* A copy whose name says a later start, and blocks that are none. */
Test(ctl, reads_the_table_of_the_process_that_runs)
{
    struct program p = start("blocks 10 10 wait", NULL);
    struct run run = run_line("for f in sfb-heap-*; do cp $f ${f%%.live}0.live; done; ls");

    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    run = run_line(TOOL " ctl %d dump", (int)p.pid);
    cr_expect_eq(run.status, 0);
    cr_expect_str_eq(run.err, "");
    expect_has(run.out, "10 blocks 100 bytes in all ~h#");
    run_free(&run);
    finish(&p, true);
    run = run_line(TOOL " ctl %d dump", (int)p.pid);
    cr_expect_eq(run.status, 0);
    expect_has(run.err, "0.live: the table belongs to another process than the file name says");
    expect_has(run.out, "10 blocks 100 bytes in all ~h#");
    run_free(&run);
}

Test(ctl, passes_over_links_and_what_is_no_file)
{
    struct program p = start("blocks 10 10 wait", NULL);
    struct run run =
        run_line("for f in sfb-heap-*; do mv $f table; ln -s table $f; mkfifo "
                 "${f%%.live}0.live; ln table ${f%%.live}1.live; done; " TOOL " ctl %d dump",
                 (int)p.pid);

    cr_expect_eq(run.status, 2, "%d", run.status);
    cr_expect_str_eq(run.out, "");
    expect_has(run.err, "0.live: no file");
    expect_has(run.err, ".live: no file");
    run_free(&run);
    finish(&p, true);
}

/* Another user has put a table there, under the process's number and start. */
Test(ctl, passes_over_the_table_of_another_user)
{
    struct program p;
    struct run run;

    if (geteuid() != 0)
        cr_skip_test("only root can make a file of another user");
    p = start("blocks 10 10 wait", NULL);
    run = run_line("chown 65534 sfb-heap-*; " TOOL " ctl %d dump; " TOOL " ctl --list", (int)p.pid);
    expect_has(run.err, "not read: it is of user 65534, and process");
    cr_expect(strstr(run.out, "~h#") == NULL, "%s", run.out);
    expect_has(run.out, "  running   ");
    run_free(&run);
    run = run_line(TOOL " ctl sfb-heap-* dump");
    cr_expect_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    finish(&p, true);
}

/* Who runs a set-user-ID program is its real user, and may plant a table for it. */
Test(ctl, passes_over_the_table_of_who_runs_a_set_user_id_program)
{
    struct program p;
    struct sfb_live head;
    struct run run;
    int ready[2], fd;
    char name[64];
    pid_t pid;

    if (geteuid() != 0)
        cr_skip_test("only root can become a process of two users");
    p = start("blocks 10 10 wait", NULL);
    copy_of_a_map(&p);
    finish(&p, true);
    cr_assert_eq(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (setresuid(65534, 0, 0) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    cr_assert_eq(read(ready[0], name, 1), 1);
    head = head_of("map");
    head.pid = (uint32_t)pid;
    run = run_line("cut -d ' ' -f 22 /proc/%d/stat", (int)pid);
    head.ticks = strtoull(run.out, NULL, 10);
    run_free(&run);
    snprintf(name, sizeof name, "sfb-heap-%u-%lu.live", head.pid, (unsigned long)head.ticks);
    fd = open("map", O_RDWR);
    cr_assert(fd >= 0 && pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
              fchown(fd, 65534, 65534) == 0 && rename("map", name) == 0);
    close(fd);
    run = run_line(TOOL " ctl %d dump", (int)pid);
    expect_has(run.err, "not read: it is of user 65534, and process");
    cr_expect_str_eq(run.out, "");
    run_free(&run);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Its number says nothing here: it may be one of another namespace. Its lock says that it lives. */
Test(ctl, removes_no_table_that_is_mapped)
{
    struct program p = start("blocks 10 10 wait", NULL);
    struct sfb_live head;
    struct run run;
    char name[64];
    int fd;

    copy_of_a_map(&p);
    head = head_of("map");
    head.pid = 4194305; /* beyond all numbers of processes */
    snprintf(name, sizeof name, "sfb-heap-%u-%lu.live", head.pid, (unsigned long)head.ticks);
    run = run_line("mv sfb-heap-* %s", name);
    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    fd = open(name, O_RDWR);
    cr_assert(fd >= 0 && pwrite(fd, &head.pid, sizeof head.pid, offsetof(struct sfb_live, pid)) ==
                             (ssize_t)sizeof head.pid);
    close(fd);
    /* Its status is of all tables here, and others may be in /dev/shm. */
    run = run_line(TOOL " ctl --list --remove | grep %s; test -e %s", name, name);
    cr_expect_eq(run.status, 0, "%s", run.out);
    expect_has(run.out, "  held      ");
    run_free(&run);
    finish(&p, true);
    run = run_line(TOOL " ctl --list --remove | grep %s; test ! -e %s", name, name);
    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, "  removed   ");
    run_free(&run);
}

/* --- any bytes ------------------------------------------------------------------------------------- */

/* Seeds of another layout would be refused at once, and the fuzzer would see nothing of a table. */
Test(ctl, reads_the_seeds_of_the_fuzzer)
{
    static const char *const seeds[] = { "table", "sampled" };

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct run run = run_line(
            TOOL " ctl " SFB_SOURCE_DIR "/profiler/tests/fuzz/corpus/live/%s dump", seeds[i]);

        cr_expect_eq(run.status, 0, "%s: %s", seeds[i], run.err);
        expect_has(run.out, " bytes in all ");
        run_free(&run);
    }
}

Test(ctl, survives_a_map_of_any_bytes)
{
    struct program p = start("blocks 200 50 wait", NULL);
    uint64_t seed = 88172645463325252U;
    struct stat file;
    int fd;

    copy_of_a_map(&p);
    finish(&p, true);
    fd = open("map", O_RDWR);
    cr_assert(fd >= 0 && fstat(fd, &file) == 0);
    for (int i = 0; i < 60; i++) {
        struct run run;

        for (int k = 0; k < 40; k++) {
            /* Mostly where something is: the header, and the beginnings of the parts. */
            const uint64_t range = k % 4 == 0 ? (uint64_t)file.st_size : 65536;
            uint64_t at;

            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            at = seed % range;
            if (at >= 12 || i % 8 == 0)
                cr_assert_eq(pwrite(fd, &seed, 1 + seed % 8, (off_t)at), 1 + (ssize_t)(seed % 8));
        }
        cr_assert_eq(ftruncate(fd, file.st_size), 0);
        run = run_line(TOOL " ctl map dump >dump; s=$?; " TOOL
                            " report --top --no-pager dump >/dev/null; exit $s");
        cr_expect(run.status >= 0 && run.status <= 2, "%d: %d: %s", i, run.status, run.err);
        run_free(&run);
    }
    for (off_t size = file.st_size; size > 0; size = size * 2 / 3) {
        struct run run;

        cr_assert_eq(ftruncate(fd, size), 0);
        run = run_line(TOOL " ctl map dump");
        cr_expect(run.status == 1 || run.status == 2, "%ld bytes: %d", (long)size, run.status);
        run_free(&run);
    }
    close(fd);
}
