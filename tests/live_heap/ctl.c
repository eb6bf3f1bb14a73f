/* sfb ctl: what lives in a process that runs, that was killed, or that ends; and what a log says of it. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/live.h"
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

static void enter(void)
{
    folder_enter();
    setenv("XDG_RUNTIME_DIR", folder_path(), 1);
}

static void expect_has(const char *text, const char *part)
{
    cr_expect(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text);
}

TestSuite(ctl, .init = enter, .fini = folder_remove, .timeout = 60);

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
                      " report --folded=- heap.sfbr | grep -o '[0-9]*$' | paste -sd+ | bc",
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

/* --- files ---------------------------------------------------------------------------------------- */

Test(ctl, has_nothing_to_list_after_a_clean_exit)
{
    struct program p = start("blocks 10 10 wait", NULL);
    struct run run = run_line(TOOL " ctl --list --remove");

    expect_has(run.out, "  running   ");
    run_free(&run);
    cr_expect_eq(finish(&p, false), 0);
    run = run_line(TOOL " ctl --list && ls");
    cr_expect_str_eq(run.out, "");
    expect_has(run.err, "no live tables here");
    run_free(&run);
}

Test(ctl, removes_what_exec_and__exit_leave_behind)
{
    struct program p = start("blocks 10 10 wait exec", NULL), q = start("wait exit", NULL);
    struct run run;

    cr_assert_eq(write(p.in, "\n", 1), 1); /* cat waits at the same pipe */
    cr_expect_eq(finish(&q, false), 0);
    usleep(200000);
    run = run_line(TOOL " ctl --list --remove && ls");
    cr_expect_eq(run_count_lines(run.out), 3, "%s", run.out);
    expect_has(run.out, "  removed   ");
    cr_expect(strstr(run.out, "running") == NULL && strstr(run.out, "gone") == NULL, "%s", run.out);
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
        { "text dump", "no live table", 2 },
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

    expect_has(run.err, "3 blocks were overrun before they were freed");
    expect_has(run.out, "overrun: 0 live and 3 freed blocks");
    expect_has(run.out, "make_a_pearl+");
    run_free(&run);
    finish(&p, true);
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
                 " report --folded=- log | grep -o '[0-9]*$' | paste -sd+ | bc",
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
    expect_has(run.err, "0 of 1 stacks are there");
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
