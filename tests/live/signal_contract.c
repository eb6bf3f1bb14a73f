/*
 * The signal contract, on the first call of a process: the kernel ends it if it makes any system
 * call but the probe (so: no descriptor, no mapping, no heap growth, no waiting for a lock), the
 * heap's own books do not change, and errno neither. (How much stack it takes: stack_use.c.)
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/machine.h"
#include "support/test.h"

static volatile int sink;
static volatile ssize_t result;
static volatile uint32_t flags;
static struct sframe_backtrace_info info;
static size_t heap_before, heap_after;
static uint8_t last_byte; /* of the CBF */

/* Kills the process on any system call but these; denied: the probe is refused. */
static void allow_only_what_a_walk_needs(bool denied)
{
    const uint32_t probe = denied ? SECCOMP_RET_ERRNO | EPERM : (uint32_t)SECCOMP_RET_ALLOW;
#define ALLOW(nr)                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, probe),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(90);
}

static void handler(int number, siginfo_t *si, void *ucontext)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = ucontext,
                                                .flags = flags };
    uint8_t buffer[1024];

    (void)number;
    (void)si;
    info.size = sizeof info;
    result = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);
    if (result > 0)
        last_byte = buffer[result - 1];
}

NOINLINE static int deep(int depth)
{
    if (depth == 0)
        __asm__ volatile(MACHINE_FAULT ::: "memory"); /* a signal without a system call */
    else
        deep(depth - 1);
    return sink++;
}

static void step_over_the_fault(ucontext_t *uc)
{
    struct sfb_regs regs = machine_regs(uc);

    machine_set_ucontext(uc, regs.pc + MACHINE_FAULT_SIZE, regs.sp, regs.fp);
}

static void handle_and_resume(int number, siginfo_t *si, void *ucontext)
{
    handler(number, si, ucontext);
    step_over_the_fault(ucontext);
}

static void install(void)
{
    struct sigaction action = { .sa_sigaction = handle_and_resume,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigaction(SIGILL, &action, NULL);
}

/* @return 0: all is well */
static int first_call_under_the_filter(void)
{
    if (!SFB_EMULATED)
        allow_only_what_a_walk_needs(false);
    heap_before = mallinfo2().uordblks;
    errno = 4711;
    deep(20);
    heap_after = mallinfo2().uordblks;
    return errno != 4711               ? 91
           : heap_before != heap_after ? 92
           : result <= 0               ? 93
           : info.end == SFB_END       ? 0
                                       : 94;
}

static void *in_thread(void *arg)
{
    int *code = arg;

    *code = first_call_under_the_filter();
    if (!SFB_EMULATED)
        _exit(*code);
    return NULL;
}

static int run_thread(void)
{
    int code = 95;
    pthread_t thread;

    if (pthread_create(&thread, NULL, in_thread, &code) == 0)
        pthread_join(thread, NULL);
    return code;
}

/*
 * Where the probe is refused too: the walk ends at the first word that is not known to be readable,
 * and says so. Of the main thread's stack much is known without it, or all, depending on where its
 * pages begin; of another thread's nothing.
 *
 * @return 0: all is well
 */
static int first_call_without_the_probe(bool thread)
{
    enum { END = 0x00, TRUNC = 0x01 }; /* CBF, the opcodes */

    allow_only_what_a_walk_needs(true);
    deep(20);
    if (result <= 0)
        return 93;
    if (!thread && info.end == SFB_END)
        return last_byte == END ? 0 : 94;
    return info.end == SFB_UNREADABLE && last_byte == TRUNC ? 0 : 96;
}

static void *in_thread_without_the_probe(void *arg)
{
    (void)arg;
    _exit(first_call_without_the_probe(true));
}

/* In a child, which the filter may kill. */
static int run_child(bool thread)
{
    int status = 0;
    pid_t child = fork();

    cr_assert(child >= 0);
    if (child == 0) {
        install();
        _exit(thread ? run_thread() : first_call_under_the_filter());
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        return 1000 + WTERMSIG(status);
    return WEXITSTATUS(status);
}

Test(signal_contract, first_walk_makes_no_system_call_but_the_probe)
{
    if (sanitized())
        cr_skip("sanitizers make system calls of their own");
    if (SFB_EMULATED)
        fprintf(stderr, "skipped: live.signal_contract: the emulator has no system call filters: "
                        "the first walk is looked at, what it calls is not\n");
    cr_expect(eq(int, run_child(false), 0), "main thread");
    if (SFB_EMULATED) { /* which cannot make a thread in a child; this is a first walk here, too */
        install();
        cr_expect(eq(int, run_thread(), 0), "another thread");
    } else {
        cr_expect(eq(int, run_child(true), 0), "another thread");
    }
}

Test(signal_contract, where_the_probe_is_refused_the_walk_ends)
{
    for (unsigned thread = 0; thread < 2; thread++) {
        int status = 0;
        pthread_t other;
        pid_t child;

        if (sanitized() || SFB_EMULATED)
            cr_skip("sanitizers make system calls, and an emulator has no filters");
        child = fork();
        cr_assert(child >= 0);
        if (child == 0) {
            install();
            if (!thread)
                _exit(first_call_without_the_probe(false));
            pthread_create(&other, NULL, in_thread_without_the_probe, NULL);
            pthread_join(other, NULL);
            _exit(95);
        }
        waitpid(child, &status, 0);
        cr_expect(eq(int, WTERMSIG(status), 0));
        cr_expect(eq(int, WEXITSTATUS(status), 0), "%s", thread ? "another thread" : "main thread");
    }
}
