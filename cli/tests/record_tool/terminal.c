/* sfb record on a terminal that its program uses: what is printed there, and whose Ctrl-C is. */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_terminal, .init = folder_enter, .fini = folder_remove);

struct terminal {
    int fd;
    pid_t pid;
    char text[1 << 16]; /* what it showed so far */
    size_t size, seen;  /* seen: what was waited for ends there */
};

static struct terminal terminal;

/* Runs a line of shell on a terminal; $R is sfb record with a file, $P the interactive program. */
static void begin(const char *term, const char *line)
{
    terminal.size = terminal.seen = 0;
    fflush(NULL);
    terminal.pid = forkpty(&terminal.fd, NULL, NULL, NULL);
    cr_assert_geq(terminal.pid, 0);
    if (terminal.pid != 0)
        return;
    setenv("TERM", term, 1);
    setenv("R", SFB_TOOL " record -f -o it.sfbr", 1);
    setenv("P", SFB_RECORD_TERMINAL, 1);
    setenv("B", SFB_RECORD_PROGRAM, 1);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

/* @return false: all that had it open have ended */
static bool read_more(void)
{
    ssize_t n;

    cr_assert_lt(terminal.size + 1, sizeof terminal.text);
    do
        n = read(terminal.fd, terminal.text + terminal.size,
                 sizeof terminal.text - 1 - terminal.size);
    while (n < 0 && errno == EINTR);
    terminal.size += n > 0 ? (size_t)n : 0;
    terminal.text[terminal.size] = '\0';
    return n > 0;
}

static void wait_for(const char *text)
{
    const char *at;

    terminal.text[terminal.size] = '\0';
    while (!(at = strstr(terminal.text + terminal.seen, text)))
        cr_assert(read_more(), "no \"%s\": %s", text, terminal.text);
    terminal.seen = (size_t)(at - terminal.text) + strlen(text);
}

static void type(const char *text)
{
    cr_assert_eq(write(terminal.fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* @return the status of the line, when no process has the terminal any more */
static int end(void)
{
    int status;

    while (read_more())
        continue;
    close(terminal.fd);
    cr_assert_eq(waitpid(terminal.pid, &status, 0), terminal.pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void expect_finished(const char *reason)
{
    struct contents *c;
    const char *wrong = contents_read(&c, "it.sfbr");

    cr_assert(wrong == NULL, "%s: %s", wrong, terminal.text);
    cr_expect(c->health.finished, "%s", terminal.text);
    cr_expect(strncmp(c->reason, reason, strlen(reason)) == 0, "%s", c->reason);
    free(c);
}

/* A session of an interpreter. @return what the terminal showed, to be freed */
static char *session(const char *term, const char *line, int status)
{
    begin(term, line);
    wait_for("> ");
    type("burn\n");
    wait_for("> ");
    type("quit\n");
    cr_expect_eq(end(), status, "%s", terminal.text);
    return strdup(terminal.text);
}

/* The same of a shell with jobs, that takes the terminal for itself. */
static char *session_of_shell(const char *line)
{
    begin("dumb", line);
    wait_for("ready$ ");
    type("$B burn 300 >/dev/null\n");
    wait_for("ready$ ");
    type("exit 5\n");
    cr_expect_eq(end(), 5, "%s", terminal.text);
    return strdup(terminal.text);
}

static void expect_beginning(const char *text, const char *beginning)
{
    cr_expect(strncmp(text, beginning, strlen(beginning)) == 0, "%s\n--- and not\n%s", text,
              beginning);
}

Test(record_terminal, is_left_to_the_program)
{
    char *plain = session("xterm", "exec $P", 5);
    char *recorded = session("xterm", "exec $R $P", 5), *quiet;

    expect_beginning(recorded, plain);
    cr_expect_eq(run_count_lines(recorded), run_count_lines(plain) + 1, "%s", recorded);
    cr_expect(strstr(recorded, " samples of ") != NULL, "%s", recorded);
    expect_finished("the program ended");
    quiet = session("xterm", "exec $R -q $P", 5);
    cr_expect_str_eq(quiet, plain);
    expect_finished("the program ended");
    free(quiet);
    free(recorded);
    free(plain);
}

Test(record_terminal, is_left_to_a_shell_with_jobs)
{
    char *plain, *recorded;

    if (access("/bin/bash", X_OK) != 0) {
        SAY_SKIPPED("record_terminal: no bash here");
        return;
    }
    plain = session_of_shell("exec env PS1='ready$ ' bash --norc --noprofile -i");
    recorded = session_of_shell("exec $R --progress env PS1='ready$ ' bash --norc --noprofile -i");
    expect_beginning(recorded, plain);
    cr_expect_eq(run_count_lines(recorded), run_count_lines(plain) + 1, "%s", recorded);
    free(recorded);
    free(plain);
}

Test(record_terminal, counts_when_asked)
{
    char *dumb;

    begin("xterm", "exec $R --progress $P");
    wait_for("> ");
    type("burn\n");
    wait_for("\rsfb: ");
    wait_for(" lost, ");
    wait_for("> ");
    type("quit\n");
    cr_expect_eq(end(), 5);
    /* Of a program that waits no sample says that something is recorded. */
    begin("xterm", "exec $R --wall --progress $P");
    wait_for("> ");
    wait_for("\rsfb: ");
    wait_for(" s of waits, ");
    type("quit\n");
    cr_expect_eq(end(), 5);
    dumb = session("dumb", "exec $R --progress $P", 5);
    cr_expect(strchr(dumb, '\033') == NULL, "%s", dumb);
    free(dumb);
}

/* Ctrl-C is the program's, however often: it goes on, and is recorded to its end. */
static void interrupt_often(void)
{
    for (unsigned i = 0; i < 3; i++) {
        type("\003");
        wait_for("KeyboardInterrupt\r\n> ");
    }
    type("quit\n");
    cr_expect_eq(end(), 5, "%s", terminal.text);
}

Test(record_terminal, hands_interrupts_to_the_program)
{
    begin("xterm", "exec $R $P");
    wait_for("> ");
    interrupt_often();
    expect_finished("the program ended");
}

static void wait_for_recording(int events)
{
    union {
        struct inotify_event event;
        char bytes[4096];
    } room;

    for (;;) {
        const ssize_t size = read(events, &room, sizeof room);
        const struct inotify_event *e = &room.event;

        cr_assert_gt(size, 0);
        for (const char *at = room.bytes; at < room.bytes + size; at += sizeof *e + e->len) {
            e = (const struct inotify_event *)(const void *)at;
            if (e->len > 0 && strcmp(e->name, "it.sfbr") == 0)
                return;
        }
    }
}

/* The recording has ended, and its line comes when the program has left the terminal. */
Test(record_terminal, waits_for_the_program_when_the_recording_has_ended)
{
    const int events = inotify_init1(IN_CLOEXEC);

    cr_assert_geq(inotify_add_watch(events, ".", IN_CLOSE_WRITE), 0);
    begin("xterm", "exec $R --duration 0.05 $P");
    wait_for("> ");
    wait_for_recording(events);
    close(events);
    interrupt_often();
    expect_beginning(terminal.text, "> ^CKeyboardInterrupt\r\n> ^CKeyboardInterrupt\r\n> "
                                    "^CKeyboardInterrupt\r\n> quit\r\nsfb: ");
    expect_finished("--duration");
}

/* What the kernel does of itself when the program ends by the signal. */
static bool dumps_core(const char *number)
{
    pid_t child;
    int status = 0;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        execl(SFB_RECORD_PROGRAM, SFB_RECORD_PROGRAM, "signal", number, (char *)NULL);
        _exit(127);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(WTERMSIG(status), atoi(number));
    return WCOREDUMP(status);
}

/* A shell would have said how the program ended, but gets an exit status only. */
Test(record_terminal, is_told_of_crashes)
{
    static const struct {
        const char *number, *text; /* NULL: shells are silent about it */
    } cases[] = {
        { "11", "Segmentation fault" },
        { "6", "Aborted" },
        { "8", "Floating point exception" },
        { "4", "Illegal instruction" },
        { "7", "Bus error" },
        { "9", "Killed" },
        { "15", "Terminated" },
        { "1", "Hangup" },
        { "2", NULL },
        { "13", NULL },
    };
    struct rlimit cores;

    cr_assert_eq(getrlimit(RLIMIT_CORE, &cores), 0);
    cores.rlim_cur = cores.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_CORE, &cores), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recorded r = recorded("-q $P signal %s", cases[i].number);
        char want[128] = "";

        if (cases[i].text)
            snprintf(want, sizeof want, "%s%s\n", cases[i].text,
                     dumps_core(cases[i].number) ? " (core dumped)" : "");
        cr_expect_str_eq(r.run.err, want);
        cr_expect_eq(r.run.status, 128 + atoi(cases[i].number));
        recorded_free(&r);
    }
}

/* The shell that runs the program says it itself. */
Test(record_terminal, is_told_of_a_crash_once)
{
    struct recorded r = recorded("-q sh -c '\"$0\" signal 11; exit 3' $P");
    const char *first = strstr(r.run.err, "Segmentation fault");

    cr_expect_eq(r.run.status, 3);
    cr_expect(first != NULL && !strstr(first + 1, "Segmentation fault"), "%s", r.run.err);
    recorded_free(&r);
}
