/*
 * The crash handler, as users have it: crash_program.c crashes, in C and C++, with the shared
 * library and without any, and its report is given to `sfb symbolize`.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sframe_backtrace_crash.h"
#include "support/child.h"
#include "support/compiler.h"
#include "support/crash_machine.h"
#include "support/run.h"
#include "support/test.h"

#define SOURCES  SFB_SOURCE_DIR "/cli/tests/command/"
#define HEADLINE "sframe-backtrace: crash: SIG"

/* Those that were built: each has to be told apart from "not here". */
static const char *const kinds[] = { SFB_CRASH_KINDS };

enum { KINDS = sizeof kinds / sizeof *kinds, REPORT_FD = 3 };

struct crashed {
    int signal;    /* that ended it, 0: it exited */
    int status;    /* exit status */
    char *report;  /* with a zero behind it */
    char *out;     /* of stdout */
    char *symbols; /* what the command says of the report */
    char *complaints;
    int tool_status;
};

static char *contents(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);

    cr_assert(text && pread(fd, text, (size_t)size, 0) == size);
    close(fd);
    return text;
}

static void become_program(const char *kind, const char *situation, int report, int out)
{
    const struct rlimit no_core = { 0, 0 }, stack = { 1 << 20, 1 << 20 };
    char path[4096];

    snprintf(path, sizeof path, "%s/crash-program-%s", SFB_PROGRAMS, kind);
    setrlimit(RLIMIT_CORE, &no_core);
    if (strcmp(SFB_EMULATE, "env") == 0)
        setrlimit(RLIMIT_STACK, &stack);
    setenv("ASAN_OPTIONS",
           "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:handle_sigill=0:"
           "handle_sigtrap=0:detect_leaks=0:use_sigaltstack=0:detect_stack_use_after_return=0",
           1);
    dup2(out, STDOUT_FILENO);
    dup2(report, REPORT_FD);
    execlp(SFB_EMULATE, SFB_EMULATE, path, situation, (char *)NULL);
    _exit(127);
}

/* A program that has been started. */
struct started {
    int report, out;
    pid_t child;
};

static struct started start(const char *kind, const char *situation)
{
    struct started s = { .report = memfd_create("report", MFD_CLOEXEC),
                         .out = memfd_create("out", MFD_CLOEXEC) };

    cr_assert(s.report > REPORT_FD && s.out > REPORT_FD);
    fflush(NULL);
    s.child = fork();
    cr_assert(s.child >= 0);
    if (s.child == 0) {
        child_begin();
        become_program(kind, situation, s.report, s.out);
    }
    setpgid(s.child, s.child); /* whoever is first */
    return s;
}

/* What is left of one that has ended so. */
static struct crashed look_at(const struct started *s, int status)
{
    struct crashed c = { .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                         .status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                         .report = contents(s->report),
                         .out = contents(s->out) };
    struct run run = run_with_input(c.report, strlen(c.report), "'%s' symbolize -", SFB_TOOL);

    c.symbols = run.out;
    c.complaints = run.err;
    c.tool_status = run.status;
    return c;
}

static struct crashed crash(const char *kind, const char *situation)
{
    struct started s = start(kind, situation);
    int status;

    child_limit(s.child);
    cr_assert(waitpid(s.child, &status, 0) == s.child);
    cr_expect(child_end(s.child), "%s %s: no end", kind, situation);
    return look_at(&s, status);
}

static void crashed_free(struct crashed *c)
{
    free(c->report);
    free(c->out);
    free(c->symbols);
    free(c->complaints);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* Where "HERE: <mark>" stands, as the command says it; empty: nowhere. */
static void place_of(char *out, size_t size, const char *mark)
{
    static const char *const files[] = { "crash_program.c", "crash_program.cpp" };

    *out = '\0';
    for (size_t i = 0; i < 2 && !*out; i++) {
        char path[4096], line[512], here[128];
        FILE *file;

        snprintf(path, sizeof path, SOURCES "%s", files[i]);
        file = fopen(path, "r");
        cr_assert(file != NULL);
        snprintf(here, sizeof here, "HERE: %s ", mark);
        for (int n = 1; fgets(line, sizeof line, file); n++) {
            line[strcspn(line, "\n")] = ' ';
            if (strstr(line, here))
                snprintf(out, size, " (%s:%d) in crash-program-", files[i], n);
        }
        fclose(file);
    }
}

/* Whether a line of a text has both. */
static bool has_line(const char *text, const char *a, const char *b)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        char line[1024];

        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        if (strstr(line, a) && strstr(line, b))
            return true;
    }
    return false;
}

/* Begins and ends as it should, `reports` times. */
static void expect_reports(const char *kind, const char *situation, const struct crashed *c,
                           unsigned reports)
{
    cr_expect(count(c->report, HEADLINE) == reports && count(c->report, "\nend\n") == reports,
              "%s %s: %u reports instead of %u:\n%s", kind, situation, count(c->report, HEADLINE),
              reports, c->report);
}

/* A single report, which leads to a line of source and to a function. */
static void expect_told(const char *kind, const char *situation, const struct crashed *c,
                        const char *headline, const char *function, const char *mark)
{
    char place[256];

    expect_reports(kind, situation, c, 1);
    cr_expect(strncmp(c->report, headline, strlen(headline)) == 0, "%s %s: %s", kind, situation,
              c->report);
    place_of(place, sizeof place, mark);
    cr_assert(place[0] != 0, "no HERE: %s", mark);
    cr_expect(c->tool_status == 0, "%s %s: %s", kind, situation, c->complaints);
    cr_expect(has_line(c->symbols, function, place), "%s %s: no %s%s in\n%s%s", kind, situation,
              function, place, c->symbols, c->report);
}

static const struct {
    const char *situation, *function;
    int signal;
    const char *headline; /* behind the prefix */
    const char *mark;     /* NULL: as the situation */
} signals[] = {
    { "null", "crash_null", SIGSEGV, "SIGSEGV (11) code SEGV_MAPERR (1) address 0x10 pid ", NULL },
    { "bus", "crash_bus", SIGBUS, "SIGBUS (7) code BUS_ADRERR (2) address 0x", NULL },
    { "ill", "crash_ill", SIGILL, "SIGILL (4) code ILL_ILLOP", NULL },
    { "fpe", "crash_fpe", SIGFPE, CRASH_FPE_TELLS, CRASH_FPE_MARK },
    { "trap", "crash_trap", SIGTRAP, CRASH_TRAP_TELLS, NULL },
    { "abort", "crash_abort", SIGABRT, "SIGABRT (6) code SI_TKILL (-6) sender ", NULL },
    { "sys", "crash_sys", SIGSYS, "SIGSYS (31) code SYS_SECCOMP (1) address 0x", NULL },
    { "sys-raised", "crash_sys_raised", SIGSYS, "SIGSYS (31) code SI_TKILL (-6) sender ", NULL },
};

Test(crash, of_every_signal_is_told_to_the_line)
{
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
            char headline[256];
            struct crashed c;

            if (SFB_EMULATED && strcmp(signals[i].situation, "sys") == 0)
                continue; /* no filters of system calls there; sys-raised has to do */
            c = crash(kinds[k], signals[i].situation);
            snprintf(headline, sizeof headline, "sframe-backtrace: crash: %s", signals[i].headline);
            expect_told(kinds[k], signals[i].situation, &c, headline, signals[i].function,
                        signals[i].mark ? signals[i].mark : signals[i].situation);
            cr_expect(c.signal == signals[i].signal, "%s %s: ended by signal %d, status %d",
                      kinds[k], signals[i].situation, c.signal, c.status);
            cr_expect(has_line(c.report, "then default", ""), "%s", c.report);
            crashed_free(&c);
        }
    }
}

Test(crash, report_makes_the_system_calls_that_the_header_names)
{
    if (SFB_EMULATED)
        cr_skip("the emulator has no filters of system calls");
    if (sanitized())
        cr_skip("sanitizers make system calls of their own");
    for (size_t k = 0; k < KINDS; k++) {
        struct crashed c = crash(kinds[k], "filtered");

        expect_told(kinds[k], "filtered", &c, HEADLINE "SEGV", "crash_null", "null");
        cr_expect(eq(int, c.signal, SIGSEGV), "%s", kinds[k]);
        crashed_free(&c);
    }
}

Test(crash, of_cplusplus_is_told_to_the_line)
{
    static const struct {
        const char *situation, *function;
        int signal;
    } all[] = { { "throw", "crash_throw()", SIGABRT },
                { "method", "(anonymous namespace)::Holder<long>::put(long)", SIGSEGV } };
    unsigned seen = 0;

    for (size_t k = 0; k < KINDS; k++) {
        if (strncmp(kinds[k], "cpp", 3) != 0)
            continue;
        for (size_t i = 0; i < 2; i++, seen++) {
            struct crashed c = crash(kinds[k], all[i].situation);

            expect_told(kinds[k], all[i].situation, &c, HEADLINE, all[i].function,
                        all[i].situation);
            cr_expect(eq(int, c.signal, all[i].signal));
            crashed_free(&c);
        }
    }
    if (seen == 0)
        cr_skip("there is no C++ compiler");
}

Test(crash, of_a_full_stack_shows_both_ends)
{
    static const char *const all[] = { "overflow", "thread-overflow", "thread-own-memory" };

    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            struct crashed c = crash(kinds[k], all[i]);
            const char *outer;

            expect_told(kinds[k], all[i], &c, HEADLINE "SEGV (11) code SEGV_", "overflow",
                        "overflow");
            cr_expect(eq(int, c.signal, SIGSEGV), "%s %s", kinds[k], all[i]);
            cr_expect(eq(u32, count(c.report, "\nomitted "), 1), "%s", c.report);
            cr_expect(count(c.report, "\ncomplete\n") == 1, "%s %s: %s", kinds[k], all[i],
                      c.report);
            cr_expect(has_line(c.symbols, "frames omitted", ""), "%s", c.symbols);
            outer = strstr(c.symbols, "omitted");
            cr_expect(outer && strstr(outer, i == 0 ? "main" : "thread_with_"), "%s %s: %s",
                      kinds[k], all[i], c.symbols);
            crashed_free(&c);
        }
    }
}

Test(crash, of_other_threads_is_told)
{
    struct crashed c;

    for (size_t k = 0; k < KINDS; k++) {
        c = crash(kinds[k], "thread");
        expect_told(kinds[k], "thread", &c, HEADLINE "SEGV", "crash_null", "null");
        cr_expect(eq(int, c.signal, SIGSEGV));
        cr_expect(has_line(c.report, HEADLINE, " \"a \\042name\\042\""), "%s", c.report);
        crashed_free(&c);

        c = crash(kinds[k], "thread-bare");
        expect_told(kinds[k], "thread-bare", &c, HEADLINE "SEGV", "crash_null", "null");
        cr_expect(eq(int, c.signal, SIGSEGV));
        crashed_free(&c);

        /* No stack to run on: the kernel ends the process, and nothing is said. */
        c = crash(kinds[k], "thread-bare-overflow");
        cr_expect(eq(int, c.signal, SIGSEGV));
        cr_expect(c.report[0] == '\0', "%s", c.report);
        crashed_free(&c);
    }
}

Test(crash, of_several_threads_at_once_does_not_mix)
{
    struct crashed c;

    for (size_t k = 0; k < KINDS; k++) {
        c = crash(kinds[k], "two-threads");
        expect_told(kinds[k], "two-threads", &c, HEADLINE "SEGV", "crash_null", "null");
        cr_expect(eq(int, c.signal, SIGSEGV));
        crashed_free(&c);

        c = crash(kinds[k], "threads-that-go-on");
        expect_reports(kinds[k], "threads-that-go-on", &c, 8);
        cr_expect(c.signal == 0 && c.status == 0, "%s: signal %d, status %d", kinds[k], c.signal,
                  c.status);
        cr_expect(eq(int, c.tool_status, 0), "%s", c.complaints);
        cr_expect(count(c.report, "\nend\n" HEADLINE) == 7, "%s", c.report);
        crashed_free(&c);
    }
}

/* What becomes of the signal, by what was there before. */
static const struct {
    const char *situation;
    int signal, status;
    unsigned reports;
    const char *out;
    const char *then;
} previous[] = {
    { "previous-siginfo", 0, 42, 1, "previous siginfo\n", "handler crash-program" },
    { "previous-plain", 0, 42, 1, "previous plain\n", "handler crash-program" },
    { "previous-crashes", SIGSEGV, 0, 1, "previous\n", "handler crash-program" },
    { "previous-aborts", SIGABRT, 0, 2, "previous\n", "handler crash-program" },
    { "previous-once", SIGSEGV, 0, 1, "previous\n", "handler crash-program" },
    { "ignored", SIGSEGV, 0, 1, "", "default" },
    { "ignored-killed", 0, 98, 0, "", NULL },
    { "ignored-raised", 0, 98, 0, "", NULL },
    { "ignored-trap", SIGTRAP, 0, 1, "", "default" },
    { "killed", SIGSEGV, 0, 1, "", "default" },
    { "reused", SIGSEGV, 0, 0, "", NULL },
    { "no-room", SIGSEGV, 0, 0, "", NULL },
    { "recovered", 0, 0, 16, "recovered\n", "handler crash-program" },
    { "recovered-restores", SIGSEGV, 0, 17, "recovered\n", "default" },
    { "recovered-raises", SIGSEGV, 0, 17, "recovered\n", "default" },
    { "recovered-aborts", SIGABRT, 0, 17, "recovered\n", "default" },
    { "recovered-default", SIGBUS, 0, 17, "recovered\n", "default" },
    { "uninstalled", 0, 42, 0, "previous plain\n", NULL },
    { "closed", SIGSEGV, 0, 0, "", NULL },
    { "reader-gone", SIGSEGV, 0, 0, "", NULL },
};

Test(crash, goes_on_to_what_was_there_before)
{
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < sizeof previous / sizeof *previous; i++) {
            struct crashed c = crash(kinds[k], previous[i].situation);

            expect_reports(kinds[k], previous[i].situation, &c, previous[i].reports);
            cr_expect(c.signal == previous[i].signal && c.status == previous[i].status,
                      "%s %s: signal %d, status %d", kinds[k], previous[i].situation, c.signal,
                      c.status);
            cr_expect(eq(str, c.out, (char *)(uintptr_t)previous[i].out), "%s %s", kinds[k],
                      previous[i].situation);
            cr_expect(previous[i].then == NULL || has_line(c.report, "then ", previous[i].then),
                      "%s", c.report);
            crashed_free(&c);
        }
    }
}

/* Natively without an end, or with one that the kernel makes: it comes, and not after long. */
Test(crash, of_a_previous_handler_that_asks_for_more_ends)
{
    struct crashed c = crash(kinds[0], "previous-crashes-again");

    cr_expect(eq(int, c.signal, SIGSEGV));
    cr_expect(count(c.report, HEADLINE) <= 16, "%s", c.report);
    crashed_free(&c);
}

/* A file as large as it may be: what fits is there, and the signal is the crash's. */
Test(crash, into_a_file_without_room_ends_by_its_own_signal)
{
    struct crashed c = crash(kinds[0], "little-room");

    cr_expect(eq(int, c.signal, SIGSEGV), "status %d", c.status);
    cr_expect(eq(sz, strlen(c.report), 1000), "%s", c.report);
    crashed_free(&c);
}

Test(crash, after_the_last_report_says_so)
{
    struct crashed c = crash(kinds[0], "recovered");

    cr_expect(
        eq(u32, count(c.report, "\nsframe-backtrace: crash: from now on without a report "), 1),
        "%s", c.report);
    cr_expect(eq(int, c.tool_status, 0), "%s", c.complaints);
    crashed_free(&c);
}

/* (What a fault in the walk looks like, crash_parts.c has.) */
Test(crash, tables_that_cannot_be_read_end_the_walk_alone)
{
    struct crashed c = crash(kinds[0], "tables-gone");

    cr_expect(eq(int, c.signal, SIGSEGV), "status %d", c.status);
    expect_reports(kinds[0], "tables-gone", &c, 1);
    cr_expect(strstr(c.report, "inside the handler") == NULL, "%s", c.report);
    cr_expect(strstr(c.report, "\nregister ") != NULL, "%s", c.report);
    cr_expect(strstr(c.report, "\nframe 0 pc ") != NULL, "%s", c.report);
    cr_expect(strstr(c.report, "\ntruncated: ") != NULL, "%s", c.report);
    cr_expect(strstr(c.symbols, "\n... truncated: ") != NULL, "%s", c.symbols);
    cr_expect(has_line(c.report, "module 0x", "crash-program-c-dynamic"), "%s", c.report);
    cr_expect(has_line(c.symbols, "crash_null", "(crash_program.c:"), "%s", c.symbols);
    cr_expect(eq(int, c.tool_status, 0), "%s", c.complaints);
    crashed_free(&c);
}

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/*
 * 5 seconds, as the header says; not for ever, nor shorter because of a signal that was sent. All wait at
 * the same time.
 */
Test(crash, with_a_reader_that_sleeps_ends)
{
    static const char *const all[] = { "reader-asleep", "sent-meanwhile", "terminal-asleep" };
    enum { COUNT = sizeof all / sizeof *all };
    struct started started[COUNT];
    double before = milliseconds();

    for (size_t i = 0; i < COUNT; i++)
        started[i] = start(kinds[0], all[i]);
    for (size_t ended = 0; ended < COUNT; ended++) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        double waited = milliseconds() - before;

        cr_assert(pid > 0);
        for (size_t i = 0; i < COUNT; i++) {
            struct crashed c;

            if (started[i].child != pid)
                continue;
            kill(-pid, SIGKILL); /* and what it has started */
            c = look_at(&started[i], status);
            cr_expect(eq(int, c.signal, SIGSEGV), "%s: status %d", all[i], c.status);
            cr_expect(waited > 4000, "%s: %.0f ms", all[i], waited);
            crashed_free(&c);
        }
    }
}

/* --- the command --------------------------------------------------------------------------------
 */

Test(crash, report_of_another_build_is_not_believed)
{
    struct crashed c = crash(kinds[0], "null");
    char *id = strstr(c.report, "\nmodule ");
    struct run run;

    cr_assert(id != NULL);
    for (id = strstr(id, "build-id ") + 9; *id != ' '; id++)
        *id = *id == '0' ? '1' : '0'; /* the program's is the first, or at least one is */
    run = run_with_input(c.report, strlen(c.report), "'%s' symbolize", SFB_TOOL);
    cr_expect(eq(int, run.status, 1));
    cr_expect(strstr(run.err, "not the file that was loaded: its build-id is ") != NULL, "%s",
              run.err);
    run_free(&run);
    crashed_free(&c);
}

Test(crash, reports_are_found_in_a_log_and_cut_ones_told)
{
    struct crashed c = crash(kinds[0], "null");
    size_t size = strlen(c.report);
    char *log = NULL;
    int length = asprintf(&log, "a line\n%sanother\n%.*s", c.report, (int)(size - 5), c.report);
    struct run run;

    cr_assert(length > 0);
    run = run_with_input(log, (size_t)length, "'%s' symbolize", SFB_TOOL);
    cr_expect(eq(int, run.status, 1));
    cr_expect(eq(u32, count(run.out, "SIGSEGV (11)"), 2), "%s", run.out);
    cr_expect(eq(u32, count(run.out, " crash_null+0x"), 2), "%s", run.out);
    cr_expect(strstr(run.err, "a report without its last line") != NULL, "%s", run.err);
    run_free(&run);
    free(log);
    crashed_free(&c);
}

/* What a line says that cannot be read is lost, and nothing else. */
Test(crash, report_with_a_bad_line_is_read_all_the_same)
{
    static const char *const marks[] = { "\nmodule 0x", "\nmodule 0x", "\ncbf ", "\ncbf " };

    for (size_t i = 0; i < 4; i++) {
        struct crashed c = crash(kinds[0], "null");
        char *at = strstr(c.report, marks[i]), complaint[64];
        struct run run;

        cr_assert(at != NULL);
        if (i == 1) /* another one, too: one complaint is enough */
            strstr(at + 1, marks[i])[8] = 'x';
        at[i == 3 ? 45 : 8] = 'x';
        run = run_with_input(c.report, strlen(c.report), "'%s' symbolize", SFB_TOOL);
        cr_expect(eq(int, run.status, 1));
        snprintf(complaint, sizeof complaint, "text+0x%zx: not ", (size_t)(at + 1 - c.report));
        cr_expect(strstr(run.err, complaint) != NULL, "%s", run.err);
        cr_expect(eq(u32, count(run.err, ": not "), 1), "%s", run.err);
        cr_expect(eq(u32, count(run.out, "SIGSEGV (11)"), 1), "%s", run.out);
        cr_expect(eq(u32, count(run.out, "#0 0x"), i >= 2 ? 0 : 1), "%s", run.out);
        run_free(&run);
        crashed_free(&c);
    }
}

/* --- in this process ----------------------------------------------------------------------------
 */

Test(crash, options_are_judged)
{
    static const struct sframe_backtrace_crash_options sizeless = { .fd = 2 };
    static const struct sframe_backtrace_crash_options bad[] = {
        { .size = sizeof *bad, .fd = -1 },
        { .size = sizeof *bad, .fd = 12345 },
        { .size = sizeof *bad, .fd = 2, .flags = 0x80 },
        { .size = sizeof *bad, .fd = 2, .signals = 1u << SIGTERM },
        { .size = sizeof *bad, .fd = 2, .max_frames = SFRAME_BACKTRACE_CRASH_FRAMES_MAX + 1 },
        { .size = sizeof *bad, .fd = 2, .max_frames = 4, .outermost = 5 },
    };
    static const struct sframe_backtrace_crash_options good = { .size = sizeof good, .fd = 2 };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(eq(int, sframe_backtrace_install_crash_handler(&bad[i]), SFB_BAD_ARGUMENT), "%zu",
                  i);
    cr_expect(eq(int, sframe_backtrace_install_crash_handler(&sizeless), SFB_NO_SIZE));
    cr_expect(eq(int, sframe_backtrace_install_crash_handler(&good), SFB_OK));
    cr_expect(eq(int, sframe_backtrace_install_crash_handler(NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sframe_backtrace_uninstall_crash_handler(), SFB_OK));
}

static void do_nothing(int number)
{
    (void)number;
}

Test(crash, handler_of_somebody_later_stays)
{
    struct sigaction now;

    cr_assert(eq(int, sframe_backtrace_install_crash_handler(NULL), SFB_OK));
    signal(SIGTRAP, do_nothing);
    cr_expect(eq(int, sframe_backtrace_uninstall_crash_handler(), SFB_NO_RESOURCE));
    sigaction(SIGTRAP, NULL, &now);
    cr_expect(now.sa_handler == do_nothing);
    cr_expect(eq(int, sframe_backtrace_install_crash_handler(NULL), SFB_BAD_ARGUMENT));
}

/* --- what it costs ------------------------------------------------------------------------------
 */

enum { ALTERNATE = 128 * 1024 };

static uint8_t *alternate;
static sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

NOINLINE static void fault(int depth)
{
    static volatile int sink;

    if (depth > 0)
        fault(depth - 1);
    else
        raise(SIGABRT);
    sink = sink + 1;
}

Test(crash, report_takes_little_stack_and_time)
{
    struct sframe_backtrace_crash_options options = { .size = sizeof options };
    struct sigaction action = { .sa_handler = jump };
    double before, after;
    size_t untouched;
    stack_t on;

    options.fd = memfd_create("report", 0);
    alternate = mmap(NULL, ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    on = (stack_t){ .ss_sp = alternate, .ss_size = ALTERNATE };
    sigaltstack(&on, NULL);
    memset(alternate, 0xcd, ALTERNATE);
    sigaction(SIGABRT, &action, NULL);
    cr_assert(eq(int, sframe_backtrace_install_crash_handler(&options), SFB_OK));
    before = milliseconds();
    if (sigsetjmp(back, 1) == 0)
        fault(20);
    after = milliseconds();
    for (untouched = 0; untouched < ALTERNATE && alternate[untouched] == 0xcd;)
        untouched++;
    fprintf(stderr, "crash: a report of %ld bytes took %.2f ms and %zu bytes of stack, ",
            (long)lseek(options.fd, 0, SEEK_CUR), after - before, ALTERNATE - untouched);
    fprintf(stderr, "the kernel's frame included; the least is %zu\n",
            sframe_backtrace_crash_stack_size());
    cr_expect(lseek(options.fd, 0, SEEK_CUR) > 500);
    if (sanitized())
        cr_skip("sanitizers pad frames");
    cr_expect(le(sz, ALTERNATE - untouched, sframe_backtrace_crash_stack_size() - 4096));
}
