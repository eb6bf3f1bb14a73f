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

    expect_has(run.err, "3 blocks were overrun and then freed");
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

enum { SLOT = sizeof(struct sfb_live_slot), SPARSE = 1 << 30, BUCKETS = 20000 };

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
    head.slots_at = head.buckets_at = head.stacks_at = head.lists_at = SFB_LIVE_PAGE;
    head.slot_room = (SPARSE - SFB_LIVE_PAGE) / SLOT;
    head.bucket_count = (SPARSE - SFB_LIVE_PAGE) / 8;
    head.stack_units = head.slot_room;
    head.lists_size = SPARSE - SFB_LIVE_PAGE;
    head.slots_used = 1;
    head.units_used = head.stack_units;
    write_map(&head, nothing, sizeof nothing);
    expect_cheap("parts that are one", 0);

    /* The same, each part by itself. */
    all = head;
    all.lists_size = 0;
    for (int i = 0; i < 3; i++) {
        head = all;
        head.slot_room = i == 0 ? all.slot_room : 1;
        head.slots_used = head.slot_room;
        head.bucket_count = i == 1 ? all.bucket_count : 1;
        head.stack_units = head.units_used = i == 2 ? all.stack_units : 2;
        /* The large one is the last. */
        head.slots_at = SFB_LIVE_PAGE + (i == 0 ? 64 : 0);
        head.buckets_at = SFB_LIVE_PAGE + (i == 1 ? 64 : 16);
        head.stacks_at = SFB_LIVE_PAGE + (i == 2 ? 64 : 32);
        head.slot_room -= i == 0 ? 4 : 0;
        head.slots_used = head.slot_room;
        head.bucket_count -= i == 1 ? 8 : 0;
        head.stack_units -= i == 2 ? 4 : 0;
        head.units_used = head.stack_units;
        head.lists_at = SFB_LIVE_PAGE;
        write_map(&head, nothing, sizeof nothing);
        expect_cheap(i == 0 ? "slots" : i == 1 ? "buckets" : "stacks", 4096);
    }
}

/* Each bucket leads to the same stack, and stacks begin within each other. */
Test(ctl, tells_each_byte_of_a_stack_once)
{
    struct program p = start("blocks 10 10 wait", NULL);
    const size_t units = 1024, at_stacks = 64, at_buckets = at_stacks + units * SFB_LIVE_UNIT,
                 size = at_buckets + BUCKETS * 8;
    uint8_t *parts = calloc(1, size);
    struct sfb_live head;

    cr_assert(parts);
    copy_of_a_map(&p);
    finish(&p, true);
    head = head_of("map");
    head.slots_at = SFB_LIVE_PAGE;
    head.slot_room = head.slots_used = 4;
    head.stacks_at = SFB_LIVE_PAGE + at_stacks;
    head.stack_units = head.units_used = (uint32_t)units;
    head.buckets_at = SFB_LIVE_PAGE + at_buckets;
    head.bucket_count = BUCKETS;
    head.lists_at = SFB_LIVE_PAGE + size;
    head.lists_size = 0;
    head.size = sfb_live_pages_up(SFB_LIVE_PAGE + size);
    for (int overlap = 0; overlap < 2; overlap++) {
        for (size_t i = 1; i + 256 < units; i++) {
            const struct sfb_live_stack stack = {
                .hash = i, .cbf_size = 4000, .list = (uint16_t)head.list, .overruns = 1
            };

            memcpy(parts + at_stacks + i * SFB_LIVE_UNIT, &stack, sizeof stack);
        }
        for (uint32_t i = 0; i < BUCKETS; i++) {
            const uint64_t bucket =
                sfb_live_bucket((uint64_t)(i + 1) << 40, overlap ? i % 512 + 1 : 1);

            memcpy(parts + at_buckets + (size_t)i * 8, &bucket, 8);
        }
        write_map(&head, parts, size);
        expect_cheap(overlap ? "stacks within each other" : "one stack", 16 * 1024);
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
    expect_has(run.err, "0.live: the table of another process than its name says");
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
    run = run_line(TOOL " ctl --list --remove && test -e %s", name);
    cr_expect_eq(run.status, 0, "%s", run.out);
    expect_has(run.out, "  held      ");
    run_free(&run);
    finish(&p, true);
    run = run_line(TOOL " ctl --list --remove && test ! -e %s", name);
    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_has(run.out, "  removed   ");
    run_free(&run);
}

/* --- any bytes ------------------------------------------------------------------------------------- */

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
