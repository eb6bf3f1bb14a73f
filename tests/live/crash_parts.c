/*
 * What a report has when something else is broken besides: the loader's table after a heap overrun,
 * a library whose file was cut short, other threads that send signals, no /proc; and what it costs
 * in a large process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "sframe_backtrace_crash.h"
#include "support/child.h"
#include "support/compiler.h"
#include "support/test.h"

enum { SKIPPED = 77 };

static int *volatile nowhere = (int *)16; /* NOLINT(performance-no-int-to-ptr) */

static void install(int fd, uint32_t max_frames)
{
    const struct sframe_backtrace_crash_options options = { .size = sizeof options,
                                                            .fd = fd,
                                                            .max_frames = max_frames };

    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK)
        _exit(90);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* Whether all parts of a report are there, with some frames, and modules that name this program. */
static void expect_whole(const struct child *c, const char *what, int number, size_t frames)
{
    cr_expect(c->timed_out == false && c->signal == number, "%s: signal %d, status %d, %.0f ms\n%s",
              what, c->signal, c->status, c->ms, c->text);
    cr_expect(count(c->text, "sframe-backtrace: crash: SIG") == 1, "%s:\n%s", what, c->text);
    cr_expect(count(c->text, "\nregister ") > 10, "%s:\n%s", what, c->text);
    cr_expect(count(c->text, "\ncbf ") >= 1, "%s:\n%s", what, c->text);
    cr_expect(count(c->text, "\nframe ") >= frames, "%s: less than %zu frames:\n%s", what, frames,
              c->text);
    cr_expect(count(c->text, "\nmodule 0x") >= 2, "%s:\n%s", what, c->text);
    cr_expect(strstr(c->text, "test-live-crash_parts\n") != NULL, "%s:\n%s", what, c->text);
    cr_expect(count(c->text, "\nend\n") == 1, "%s:\n%s", what, c->text);
}

/* --- libraries ----------------------------------------------------------------------------------
 */

typedef int crash_in(int *at);
typedef int call_through(int (*callback)(void *), void *with);

struct plugin {
    int fd; /* its file, which nobody else has */
    crash_in *crash;
    call_through *call;
};

/* Copies of a library in memory, each of which is another file for the loader. */
static struct plugin load_plugin(void)
{
    struct plugin plugin = { .fd = memfd_create("plugin", 0) };
    int from = open(SFB_TEST_LIBS "/libcrash-plugin.so", O_RDONLY);
    char bytes[4096], path[64];
    void *library;
    ssize_t n;

    while ((n = read(from, bytes, sizeof bytes)) > 0)
        if (write(plugin.fd, bytes, (size_t)n) != n)
            _exit(91);
    close(from);
    snprintf(path, sizeof path, "/proc/self/fd/%d", plugin.fd);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        _exit(92);
    plugin.crash = (crash_in *)(uintptr_t)dlsym(library, "plugin_crash");
    plugin.call = (call_through *)(uintptr_t)dlsym(library, "plugin_call");
    return plugin;
}

/* --- a heap overrun -----------------------------------------------------------------------------
 */

enum { LIBRARIES_MAX = 9 };

static const struct pattern {
    const char *name;
    uint64_t word;
} patterns[] = {
    { "0x41...", 0x4141414141414141 }, { "zeros", 0 },
    { "ones", ~(uint64_t)0 },          { "pointers to nothing", 0x00007ffffffff000 },
    { "small numbers", 64 },
};

struct overrun {
    unsigned libraries;
    uint64_t word;
};

static void smash_heap_and_crash(void *with, int fd)
{
    const struct overrun *o = with;
    volatile uint64_t *word = malloc(64), *end;
    struct plugin last = { .crash = NULL };

    for (unsigned i = 0; i < o->libraries; i++)
        last = load_plugin();
    install(fd, 64);
    end = (volatile uint64_t *)sbrk(0);
    while (word < end)
        *word++ = o->word;
    last.crash(nowhere);
}

/* The loader's table leads to nothing: one copy of two lies above the block. */
static const char *const stepped_over[] = {
    " inside the handler (walk), address 0x0: stepped over\n",
    " inside the handler (frames), address 0x0: stepped over\n",
    "\ntruncated: the walk met with a fault\n",
};

Test(crash_parts, of_a_smashed_heap_are_all_there)
{
    unsigned told[sizeof stepped_over / sizeof *stepped_over] = { 0 };

    if (sanitized())
        cr_skip("the sanitizer has a heap of its own");
    if (SFB_EMULATED)
        cr_skip("the emulator's own memory is in the way of sbrk()");
    for (unsigned libraries = 1; libraries <= LIBRARIES_MAX; libraries++) {
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
            struct overrun o = { .libraries = libraries, .word = patterns[i].word };
            struct child c = child_run(smash_heap_and_crash, &o);
            char what[64];

            snprintf(what, sizeof what, "%u libraries, %s", libraries, patterns[i].name);
            expect_whole(&c, what, SIGSEGV, 1);
            for (size_t line = 0; line < sizeof told / sizeof *told; line++)
                told[line] += count(c.text, stepped_over[line]) > 0;
            child_free(&c);
        }
    }
    for (size_t line = 0; line < sizeof told / sizeof *told; line++)
        cr_expect(told[line] > 0, "never%s", stepped_over[line]);
}

/* --- a file that was cut short ------------------------------------------------------------------
 */

struct cut {
    struct plugin plugin;
    off_t size;
};

NOINLINE static int cut_and_crash(void *with)
{
    const struct cut *cut = with;

    if (ftruncate(cut->plugin.fd, cut->size) != 0)
        _exit(93);
    *nowhere = 1;
    return 1;
}

static void crash_under_cut_library(void *with, int fd)
{
    struct cut *cut = with;

    cut->plugin = load_plugin();
    install(fd, 64);
    cut->plugin.call(cut_and_crash, cut);
}

Test(crash_parts, of_a_library_that_was_cut_short_are_all_there)
{
    static const off_t sizes[] = { 0, 4096, 8192, 12288, 100 };

    if (sanitized())
        cr_skip("the sanitizer's own code crashes inside of the handler");
    if (SFB_EMULATED)
        cr_skip("the emulator does not pass on what lies behind the end of a file");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct cut cut = { .size = sizes[i] };
        struct child c = child_run(crash_under_cut_library, &cut);
        char what[64];

        snprintf(what, sizeof what, "cut to %ld bytes", (long)sizes[i]);
        expect_whole(&c, what, SIGSEGV, 2);
        child_free(&c);
    }
}

/* --- a signal that a watchdog sends -------------------------------------------------------------
 */

static pthread_t crashing;
static int pipe_ends[2];
static atomic_bool *is_sent; /* the signal; shared with the process that crashes */

/* A pipe of one page that has something in it is full: the report waits for its reader. */
static void *watch(void *arg)
{
    int waiting = 0;

    while (ioctl(pipe_ends[1], FIONREAD, &waiting) == 0 && waiting == 0)
        sched_yield();
    pthread_kill(crashing, SIGABRT);
    atomic_store(is_sent, true);
    return arg;
}

static void crash_into_pipe(void)
{
    pthread_t watchdog;

    crashing = pthread_self();
    fcntl(pipe_ends[1], F_SETPIPE_SZ, 4096);
    install(pipe_ends[1], 64);
    if (pthread_create(&watchdog, NULL, watch, NULL) != 0)
        _exit(94);
    *nowhere = 1;
}

/* Reads slowly what a process of its own says, and ends by the same signal. */
static void read_slowly(void *with, int fd)
{
    char bytes[256];
    int status = 0;
    pid_t pid;
    ssize_t n;

    (void)with;
    is_sent =
        mmap(NULL, sizeof *is_sent, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pipe(pipe_ends) != 0 || is_sent == MAP_FAILED)
        _exit(95);
    pid = fork();
    if (pid == 0) {
        close(pipe_ends[0]);
        crash_into_pipe();
        _exit(96);
    }
    close(pipe_ends[1]);
    while (!atomic_load(is_sent))
        sched_yield();
    while ((n = read(pipe_ends[0], bytes, sizeof bytes)) > 0) {
        if (write(fd, bytes, (size_t)n) != n)
            _exit(97);
        usleep(5000); /* for the report to wait for each piece */
    }
    waitpid(pid, &status, 0);
    raise(WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
}

Test(crash_parts, are_all_there_though_a_watchdog_sends_a_signal)
{
    struct child c;

    if (SFB_EMULATED)
        cr_skip("the emulator holds signals back while a thread is in write()");
    c = child_run(read_slowly, NULL);
    expect_whole(&c, "watchdog", SIGSEGV, 1);
    cr_expect(strstr(c.text, "inside the handler") == NULL, "%s", c.text);
    child_free(&c);
}

/* --- no /proc -----------------------------------------------------------------------------------
 */

static void crash_without_proc(void *with, int fd)
{
    (void)with;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || mount("none", "/proc", "tmpfs", 0, "") != 0)
        _exit(SKIPPED);
    install(fd, 64);
    *nowhere = 1;
}

Test(crash_parts, name_the_program_without_proc)
{
    struct child c = child_run(crash_without_proc, NULL);

    if (c.signal == 0 && c.status == SKIPPED) {
        child_free(&c);
        fprintf(stderr, "skipped: crash_parts: name_the_program_without_proc: no namespaces\n");
        cr_skip("no namespaces here");
    }
    expect_whole(&c, "without /proc", SIGSEGV, 1);
    cr_expect(strstr(c.text, "frame 0 pc") != NULL &&
                  strstr(c.text, " test-live-crash_parts+0x") != NULL,
              "%s", c.text);
    child_free(&c);
}

/* --- what it costs ------------------------------------------------------------------------------
 *
 * Most of a report's time goes to the probe, a system call, and machines differ in how long one
 * takes. So it is counted (the linker puts this function before the library's); the time is printed.
 */

enum { MODULES = 500, DEPTH = 1100, FRAMES = 1024, ROUNDS = 3, PROBES_OF_MODULE = 16 };

static sigjmp_buf back;
static volatile size_t probes;

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier) */
long __real_sfb_arch_sigprocmask(uint64_t how, uint64_t set);
long __wrap_sfb_arch_sigprocmask(uint64_t how, uint64_t set);
/* NOLINTEND(bugprone-reserved-identifier) */

long __wrap_sfb_arch_sigprocmask(uint64_t how, uint64_t set)
{
    probes++;
    return __real_sfb_arch_sigprocmask(how, set);
}

static void jump_back(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static double cpu_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Each frame but the last is another one, so that none is a repeat. */
static int descend(void *with)
{
    const struct plugin *plugin = with;
    static volatile int depth;

    if (depth == DEPTH) {
        depth = 0;
        *nowhere = 1;
    }
    depth++;
    return plugin->call(descend, (void *)(uintptr_t)with) + 1;
}

static void crash_among_modules(void *with, int fd)
{
    static struct plugin plugins[MODULES];
    volatile double best = 1e9;
    char line[64];

    (void)with;
    for (int i = 0; i < MODULES; i++)
        plugins[i] = load_plugin();
    sframe_backtrace_refresh();
    signal(SIGSEGV, jump_back);
    install(fd, FRAMES);
    probes = 0;
    for (volatile int round = 0; round < ROUNDS; round++) {
        volatile double before = cpu_milliseconds();

        nowhere = (int *)(uintptr_t)(16 + 8 * round); /* a report each */
        if (sigsetjmp(back, 1) == 0)
            descend(&plugins[round]);
        before = cpu_milliseconds() - before;
        best = before < best ? before : best;
    }
    snprintf(line, sizeof line, "took %.3f ms, %zu probes\n", best, probes / ROUNDS);
    if (write(fd, line, strlen(line)) < 0)
        _exit(98);
}

Test(crash_parts, of_a_large_process_cost_little)
{
    struct child c = child_run(crash_among_modules, NULL);
    const char *took = strstr(c.text, "\ntook ");
    size_t modules = count(c.text, "\nmodule "), frames = count(c.text, "\nframe ");
    size_t asked = 0;
    double ms = 0;

    cr_assert(took != NULL && sscanf(took, "\ntook %lf ms, %zu probes", &ms, &asked) == 2,
              "signal %d, status %d, %.0f ms\n%.4000s", c.signal, c.status, c.ms, c.text);
    fprintf(stderr,
            "crash_parts: a report of %zu frames and %zu modules takes %.2f ms, %zu probes\n",
            frames / ROUNDS, modules / ROUNDS, ms, asked);
    cr_expect(le(sz, ROUNDS * 500, modules));
    cr_expect(eq(sz, ROUNDS * FRAMES, frames));
    cr_expect(eq(sz, ROUNDS, count(c.text, "\nend\n")));
    cr_expect(le(sz, asked, PROBES_OF_MODULE * modules / ROUNDS));
    child_free(&c);
}
