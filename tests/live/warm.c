/*
 * Where a walk has been, the next one asks the kernel nothing: deep stacks, walks that end at their
 * user's limit, stacks with a large array, threads. The kernel kills whoever asks.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"

enum { FRAMES = 2048, WARM_UP = 70 };

static uint32_t max_frames;
static volatile ssize_t count;

static void forbid_the_question(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

/* The same call in the end as in the beginning: every pc is known by then, too. */
NOINLINE static void capture_often(void)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .max_frames = max_frames };
    static void *frames[FRAMES];

    for (int i = 0; i <= WARM_UP; i++) {
        if (i == WARM_UP)
            forbid_the_question();
        count = sframe_backtrace_addresses(frames, FRAMES, &options, NULL);
    }
}

NOINLINE static int recurse(int depth)
{
    volatile char space[200];

    space[0] = (char)depth;
    if (depth > 0)
        recurse(depth - 1);
    else
        capture_often();
    return space[0];
}

NOINLINE static int with_an_array(int depth)
{
    volatile char array[200000];

    array[0] = (char)depth;
    recurse(depth);
    return array[0];
}

static void deep(void)
{
    recurse(1000);
    _exit(count > 1000 ? 0 : 1);
}

static void below_an_array(void)
{
    with_an_array(300);
    _exit(count > 8 || max_frames ? 0 : 1);
}

static void *in_a_thread(void *argument)
{
    recurse(300);
    _exit(count > 8 || max_frames ? 0 : 1); /* to end a thread takes that system call */
    return argument;
}

static void in_another_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, in_a_thread, NULL) != 0)
        _exit(2);
    pthread_join(thread, NULL);
    _exit(4);
}

static void expect_no_question(const char *what, void (*run)(void), uint32_t limit)
{
    int status;
    pid_t child;

    max_frames = limit;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        run();
        _exit(3);
    }
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("no seccomp filters here");
    cr_expect(eq(int, status, 0), "%s, at most %u frames", what, limit);
}

Test(warm, walks_ask_nothing)
{
    expect_no_question("a deep stack", deep, 0);
    expect_no_question("below an array", below_an_array, 0);
    expect_no_question("a thread", in_another_thread, 0);
}

Test(warm, walks_that_are_limited_ask_nothing)
{
    expect_no_question("below an array", below_an_array, 8);
    expect_no_question("a thread", in_another_thread, 8);
}
