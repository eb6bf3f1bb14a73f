/*
 * Who reports a crash, when there are several: a child of fork() does not wait for a thread that it
 * does not have, and nobody waits for ever.
 *
 * A process of its own has a thread that crashes, whose report goes into a pipe that is full before
 * long: that thread is held in the middle of its report.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sframe_backtrace_crash.h"
#include "support/child.h"
#include "support/test.h"

enum { PIPE_SIZE = 4096, REPORT_MAX = 1 << 20, STEP_US = 1000 /* between two looks */ };

/* What the processes tell each other. */
static struct shared {
    atomic_int reporting; /* the thread that is held */
    atomic_bool go;       /* it is stopped for good */
    atomic_bool forked;   /* the child is dead: */
    int child_status;
    long child_waits; /* how often it gave the processor up */
} * shared;

static int report[2];
static int *volatile nowhere = (int *)16; /* NOLINT(performance-no-int-to-ptr) */
static char text[REPORT_MAX];

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool is_in_report(void)
{
    int waiting = 0;

    return ioctl(report[0], FIONREAD, &waiting) == 0 && waiting > 0;
}

static void *crash_in_thread(void *arg)
{
    atomic_store(&shared->reporting, (int)syscall(SYS_gettid));
    *nowhere = 1;
    return arg;
}

/* Where the process goes on once its thread is held. */
static void hold_thread(void)
{
    struct sframe_backtrace_crash_options options = { .size = sizeof options, .fd = report[1] };
    pthread_t thread;

    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK ||
        pthread_create(&thread, NULL, crash_in_thread, NULL) != 0)
        _exit(90);
    while (!is_in_report())
        usleep(STEP_US);
}

static void start(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(shared != MAP_FAILED);
    cr_assert(eq(int, pipe(report), 0));
    cr_assert(le(int, 0, fcntl(report[1], F_SETPIPE_SZ, PIPE_SIZE)));
    fflush(NULL);
}

static void read_all(int fd)
{
    size_t size = 0;
    ssize_t n;

    while (size < sizeof text - 1 && (n = read(fd, text + size, sizeof text - 1 - size)) > 0)
        size += (size_t)n;
    text[size] = '\0';
}

/* --- A child that has not got the thread ------------------------------------------------------ */

static void fork_meanwhile(int file)
{
    struct rusage used;
    pid_t child = fork();

    if (child == 0) {
        const struct sframe_backtrace_crash_options options = { .size = sizeof options,
                                                                .fd = file };

        /* Its own file; nothing of this says who the owner is. */
        if (sframe_backtrace_uninstall_crash_handler() != SFB_OK ||
            sframe_backtrace_install_crash_handler(&options) != SFB_OK)
            _exit(92);
        *nowhere = 1;
        _exit(91);
    }
    wait4(child, &shared->child_status, 0, &used);
    shared->child_waits = used.ru_nvcsw;
    atomic_store(&shared->forked, true);
    for (;;)
        pause(); /* until the thread is through */
}

Test(crash_owner, child_does_not_wait_for_a_thread_that_it_has_not)
{
    FILE *file = tmpfile();
    int status = 0;
    pid_t process;

    cr_assert(file != NULL);
    start();
    process = fork();
    if (process == 0) {
        child_begin();
        hold_thread();
        fork_meanwhile(fileno(file));
    }
    child_limit(process);
    close(report[1]);
    while (!atomic_load(&shared->forked) && waitpid(process, &status, WNOHANG) == 0)
        usleep(STEP_US);
    cr_assert(atomic_load(&shared->forked), "the process ended early: status %#x", status);

    cr_expect(eq(int, WIFSIGNALED(shared->child_status), 1));
    cr_expect(eq(int, WTERMSIG(shared->child_status), SIGSEGV));
    /* The owner is waited for in steps of 10 ms, for 10 s. */
    cr_expect(lt(long, shared->child_waits, 200), "it waited %ld times", shared->child_waits);
    lseek(fileno(file), 0, SEEK_SET);
    read_all(fileno(file));
    cr_expect(strstr(text, "SIGSEGV") != NULL && strstr(text, "\nend\n") != NULL,
              "the child's report: %s", text);
    fclose(file);

    read_all(report[0]);
    cr_expect(strstr(text, "SIGSEGV") != NULL && strstr(text, "\nend\n") != NULL,
              "the thread's report: %s", text);
    waitpid(process, &status, 0);
    cr_expect(child_end(process), "no end");
    cr_expect(eq(int, WIFSIGNALED(status), 1));
    cr_expect(eq(int, WTERMSIG(status), SIGSEGV));
}

/* --- A report that does not come to an end ---------------------------------------------------- */

static void abort_meanwhile(void)
{
    while (!atomic_load(&shared->go))
        usleep(STEP_US);
    abort();
}

/* @return false: this machine does not let us */
static bool stop_for_good(int thread)
{
    int status;

    return ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0 &&
           ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0 &&
           waitpid(thread, &status, __WALL) == thread;
}

/* The thread that is traced is waited for, too, or its process is never through. */
static int wait_for(pid_t process)
{
    int status = 0;
    pid_t ended;

    do
        ended = waitpid(-1, &status, __WALL);
    while (ended != process && (ended >= 0 || errno == EINTR));
    return status;
}

Test(crash_owner, nobody_waits_for_ever)
{
    double before, waited;
    pid_t process;
    int status = 0;

    start();
    process = fork();
    if (process == 0) {
        child_begin();
        hold_thread();
        abort_meanwhile();
    }
    child_limit(process);
    close(report[1]);
    while (!is_in_report() && waitpid(process, &status, WNOHANG) == 0)
        usleep(STEP_US);
    cr_assert(is_in_report(), "the process ended early");
    if (!stop_for_good(atomic_load(&shared->reporting))) {
        int why = errno;

        child_end(process);
        waitpid(process, &status, 0);
        fprintf(stderr, "skipped: crash_owner: nobody_waits_for_ever: ptrace: %s\n", strerror(why));
        cr_skip("no ptrace");
    }
    before = milliseconds();
    atomic_store(&shared->go, true);
    status = wait_for(process);
    waited = milliseconds() - before;
    cr_expect(child_end(process), "no end");
    fprintf(stderr, "crash_owner: the second thread died after %.0f ms\n", waited);

    cr_expect(eq(int, WIFSIGNALED(status), 1));
    cr_expect(eq(int, WTERMSIG(status), SIGABRT),
              "the one that waited, and not the one that is held");
    cr_expect(waited > 9000, "%.0f ms, of 10 s", waited);
    read_all(report[0]);
    cr_expect(strstr(text, "SIGABRT") == NULL && strstr(text, "\nend\n") == NULL, "%s", text);
}
