/*
 * SECCOMP_MODE_STRICT: a process that may read, write and return from a handler, and no more. A
 * capture on a stack that is known, in modules that stay, makes no system call at all.
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"

enum { FRAMES = 64 };

static volatile ssize_t known, strict, cbf, interrupted;
static volatile enum sfb_status end;
static uint64_t memo[(SFRAME_BACKTRACE_MEMO_SIZE(FRAMES) + 7) / 8];

NOINLINE static ssize_t capture(void)
{
    void *frames[FRAMES];
    int count = sframe_backtrace(frames, FRAMES);

    KEEP_WHOLE(frames);
    return count;
}

NOINLINE static void capture_cbf(void)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .memo = memo,
                                                .memo_size = sizeof memo };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint8_t bytes[512];

    cbf = sframe_backtrace_cbf(bytes, sizeof bytes, &options, &info);
    end = info.end;
}

static void handler(int number, siginfo_t *info, void *context)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = context };
    void *frames[FRAMES];

    (void)number;
    (void)info;
    interrupted = sframe_backtrace_addresses(frames, FRAMES, &options, NULL);
}

static void prepare(void)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

    sigaction(SIGILL, &action, NULL);
    known = capture();
}

/* At other pcs than before: their rows are looked up, and their code may be looked at. */
NOINLINE static void use(void)
{
    strict = capture();
    capture_cbf();
    __builtin_trap(); /* the handler does not return to it */
}

static void leave(int status)
{
    syscall(SYS_exit, status); /* exit_group() is not among what may be called */
}

/* From the frame of use(), which is one further out than that of capture(). */
static void handler_that_leaves(int number, siginfo_t *info, void *context)
{
    handler(number, info, context);
    leave(strict >= known && cbf > 0 && end == SFB_END && interrupted >= strict - 1 ? 0 : 1);
}

static void *strict_thread(void *argument)
{
    struct sigaction action = { .sa_sigaction = handler_that_leaves, .sa_flags = SA_SIGINFO };

    prepare();
    sigaction(SIGILL, &action, NULL);
    /* Of this thread alone. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        _exit(77);
    use();
    return argument;
}

static int status_of(void (*run)(void))
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        run();
        _exit(5);
    }
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    return status;
}

static void on_the_main_thread(void)
{
    strict_thread(NULL);
}

/* The process goes on; that the thread was not killed is seen by what it leaves. */
static void in_a_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, strict_thread, NULL) != 0)
        _exit(6);
    pthread_join(thread, NULL);
    _exit(strict >= known && cbf > 0 && end == SFB_END && interrupted >= strict - 1 ? 0 : 1);
}

static void expect_no_calls(void (*run)(void))
{
    int status = status_of(run);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("no SECCOMP_MODE_STRICT here");
    cr_expect(eq(int, status, 0));
}

Test(strict, mode_is_survived_by_the_main_thread)
{
    expect_no_calls(on_the_main_thread);
}

Test(strict, mode_is_survived_by_another_thread)
{
    expect_no_calls(in_a_thread);
}
