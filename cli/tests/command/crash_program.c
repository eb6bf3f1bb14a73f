/*
 * A program that crashes as it is told to, for crash.c: crash_program <situation>. Its report goes
 * to descriptor 3. C, and C++ as well: crash_program.cpp includes it.
 *
 * The line that has "HERE: <situation>" is the one that a report has to lead to.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sframe_backtrace_crash.h"
#include "support/crash_machine.h"

/* Functions with a name in the symbol table, and with nothing in front of the fault. */
#define CRASH __attribute__((noinline, used, no_sanitize("undefined", "address", "thread")))

enum { REPORT_FD = 3, THREADS = 8 };

static volatile int zero; /* for ever, which no compiler can know */
static volatile int sink;

/* --- signals ------------------------------------------------------------------------------------
 */

CRASH static void crash_null(void)
{
    volatile int *nothing = (volatile int *)(uintptr_t)(0x10 + zero);

    *nothing = 1; /* HERE: null */
    sink++;
}

CRASH static void crash_bus(void)
{
    int fd = (int)syscall(SYS_memfd_create, "nothing", 0);
    volatile char *map =
        (volatile char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    map[0] = 1; /* HERE: bus */
    sink++;
}

CRASH static void crash_ill(void)
{
    __asm__ volatile(CRASH_ILL); /* HERE: ill */
    sink++;
}

CRASH static void crash_fpe(void)
{
#ifdef CRASH_FPE
    __asm__ volatile(CRASH_FPE); /* HERE: fpe */
#else
    raise(SIGFPE); /* HERE: fpe-raised */
#endif
    sink++;
}

CRASH static void crash_trap(void)
{
    __asm__ volatile(CRASH_TRAP); /* HERE: trap */
    sink++;
}

CRASH static void crash_abort(void)
{
    if (zero == 0)
        abort(); /* HERE: abort */
    sink++;
}

CRASH static void crash_sys_raised(void)
{
    raise(SIGSYS); /* HERE: sys-raised */
    sink++;
}

/* A filter that sends SIGSYS instead of an answer. */
static void forbid(unsigned number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(90);
}

/* A filter that ends the process at any system call but those that the header names. */
static void allow_what_the_header_says(void)
{
#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_rt_sigaction),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_rt_tgsigqueueinfo),
        ALLOW(SYS_tgkill),
        ALLOW(SYS_prctl),
        ALLOW(SYS_getpid),
        ALLOW(SYS_gettid),
        ALLOW(SYS_nanosleep),
        ALLOW(SYS_fstat),
        ALLOW(SYS_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(90);
}

static void crash_filtered(void)
{
    allow_what_the_header_says();
    crash_null();
}

CRASH static void crash_sys(void)
{
    CRASH_SYSCALL(SYS_getppid); /* HERE: sys */
    sink++;
}

static void crash_sys_filtered(void)
{
    forbid(SYS_getppid);
    crash_sys();
    sink++;
}

CRASH static int overflow(int n)
{
    volatile char space[500];

    space[0] = (char)n;
    if (zero)
        return 0;
    return overflow(n + 1) + space[0]; /* HERE: overflow */
}

CRASH static void crash_overflow(void)
{
    sink += overflow(0);
    sink++;
}

static void crash_killed(void)
{
    kill(getpid(), SIGSEGV);
    sink++;
}

static void crash_raised(void)
{
    raise(SIGTRAP);
    sink++;
}

/* Somebody else has the descriptor now. */
static void crash_reused(void)
{
    dup2(STDOUT_FILENO, REPORT_FD);
    crash_null();
}

/* The file may have so many bytes; then SIGXFSZ comes. */
static void limit_file(unsigned size)
{
    struct rlimit limit;

    limit.rlim_cur = limit.rlim_max = size;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void crash_without_room(void)
{
    limit_file(0);
    crash_null();
}

static void crash_with_little_room(void)
{
    limit_file(1000);
    crash_null();
}

/* --- threads ------------------------------------------------------------------------------------
 */

static pthread_barrier_t barrier;

static void *thread_with_stack(void *crash)
{
    pthread_setname_np(pthread_self(), "a \"name\"");
    if (sframe_backtrace_crash_stack(NULL, 0) == SFB_OK)
        ((void (*)(void))(uintptr_t)crash)();
    return NULL;
}

static void *thread_with_own_memory(void *crash)
{
    static char memory[256 << 10];

    if (sframe_backtrace_crash_stack(memory, 100) == SFB_BAD_ARGUMENT &&
        sframe_backtrace_crash_stack(memory, sizeof memory) == SFB_OK)
        ((void (*)(void))(uintptr_t)crash)();
    return NULL;
}

static void *thread_without_stack(void *crash)
{
    ((void (*)(void))(uintptr_t)crash)();
    return NULL;
}

static void *thread_with_others(void *crash)
{
    sframe_backtrace_crash_stack(NULL, 0);
    pthread_barrier_wait(&barrier);
    ((void (*)(void))(uintptr_t)crash)();
    sframe_backtrace_release_crash_stack();
    return NULL;
}

static void run_threads(unsigned count, void *(*begin)(void *), void (*crash)(void))
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, begin, (void *)(uintptr_t)crash) != 0)
            _exit(91);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* --- previous handlers --------------------------------------------------------------------------
 */

static sigjmp_buf back;

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(92);
}

static bool is_blocked(int number)
{
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, number) == 1;
}

static void previous_siginfo(int number, siginfo_t *info, void *ucontext)
{
    if (number == SIGSEGV && info->si_code == SEGV_MAPERR && info->si_addr == (void *)0x10 &&
        ucontext && is_blocked(SIGSEGV) && is_blocked(SIGUSR1) && !is_blocked(SIGUSR2) &&
        !is_blocked(SIGABRT))
        say("previous siginfo\n");
    _exit(42);
}

static void previous_plain(int number)
{
    if (number == SIGSEGV)
        say("previous plain\n");
    _exit(42);
}

CRASH static void previous_that_crashes(int number)
{
    (void)number;
    say("previous\n");
    crash_null();
}

CRASH static void previous_that_aborts(int number)
{
    (void)number;
    say("previous\n");
    abort();
}

static void previous_that_returns(int number)
{
    (void)number;
    say("previous\n");
}

static void previous_that_jumps(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* Lets a thread that crashed go on behind the fault. */
static void previous_that_steps_over(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    crash_step_over_ill((ucontext_t *)ucontext);
}

static void handle(int number, void (*handler)(int), unsigned flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = (int)flags;
    sigaction(number, &action, NULL);
}

static void handle_siginfo(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(number, &action, NULL);
}

/* The same place again and again, then many others. */
static void recover(void)
{
    for (volatile int i = 0; i < 40; i++)
        if (sigsetjmp(back, 1) == 0)
            crash_null();
    for (volatile int i = 0; i < 40; i++)
        if (sigsetjmp(back, 1) == 0)
            *(volatile char *)(uintptr_t)(0x20 + i) = 1;
    say("recovered\n");
}

static void crash_and_recover(void)
{
    recover();
    exit(0);
}

/* What ends the process after them: which a handler decides. */
static volatile bool gives_up;

static void previous_that_jumps_or_restores(int number)
{
    if (!gives_up)
        siglongjmp(back, 1);
    signal(number, SIG_DFL); /* and the fault comes again */
}

static void previous_that_jumps_or_raises(int number)
{
    if (!gives_up)
        siglongjmp(back, 1);
    signal(number, SIG_DFL);
    raise(number);
}

static void previous_that_jumps_or_aborts(int number)
{
    (void)number;
    if (!gives_up)
        siglongjmp(back, 1);
    abort();
}

static void crash_after_all(void)
{
    recover();
    gives_up = true;
    crash_null();
}

static void crash_bus_after_all(void)
{
    recover();
    crash_bus();
}

/* --- the rest -----------------------------------------------------------------------------------
 */

/*
 * The tables of this program cannot be read any more, and the walk finds out. (Under what it called
 * before, its rules may be remembered.)
 */
static void crash_without_tables(void)
{
    if (!crash_hide_own_tables())
        _exit(93);
    crash_null();
}

static void close_report(void)
{
    close(REPORT_FD);
}

/* @param full  nobody reads, and there is no room; else there is nobody who could read */
static void make_report_a_pipe(bool full)
{
    char bytes[4096] = "";
    int ends[2];

    if (pipe(ends) != 0)
        _exit(94);
    if (full) {
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        while (write(ends[1], bytes, sizeof bytes) > 0)
            ;
        fcntl(ends[1], F_SETFL, 0);
    } else {
        close(ends[0]);
    }
    dup2(ends[1], REPORT_FD);
}

/* @return whether it has taken a byte */
static bool write_byte(int fd)
{
    return write(fd, "x", 1) == 1;
}

/* Nobody reads, and there is room for some of a report: what is written there waits for the rest. */
static void make_report_a_terminal(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), fd;
    char bytes[600];

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        _exit(94);
    fd = open(ptsname(master), O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        _exit(94);
    /* The kernel takes some from one buffer to the next meanwhile. */
    for (int full = 0; full < 20; full++) {
        while (write_byte(fd))
            full = 0;
        usleep(10000); /* for the kernel, which does not say when it has done so */
    }
    if (read(master, bytes, sizeof bytes) < 1)
        _exit(94);
    fcntl(fd, F_SETFL, 0);
    dup2(fd, REPORT_FD);
}

static enum sfb_status install(void)
{
    struct sframe_backtrace_crash_options options;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.fd = REPORT_FD;
    options.max_frames = 64;
    options.outermost = 16;
    return sframe_backtrace_install_crash_handler(&options);
}

/* @return whether there is an alternate stack */
static bool has_stack(void)
{
    stack_t now;

    return sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE);
}

static void crash_uninstalled(void)
{
    struct sigaction now;

    if (install() != SFB_BAD_ARGUMENT || !has_stack() ||
        sframe_backtrace_uninstall_crash_handler() != SFB_OK || has_stack() ||
        sframe_backtrace_uninstall_crash_handler() != SFB_BAD_ARGUMENT || install() != SFB_OK ||
        !has_stack() || sframe_backtrace_uninstall_crash_handler() != SFB_OK || has_stack())
        _exit(95);
    sigaction(SIGSEGV, NULL, &now);
    if (now.sa_handler != previous_plain)
        _exit(96);
    crash_null();
}

/* Which handlers there are before, what happens after. */
struct situation {
    const char *name;
    void (*before)(void);
    void (*crash)(void);
};

static void before_siginfo(void)
{
    handle_siginfo(SIGSEGV, previous_siginfo);
}

static void before_plain(void)
{
    handle(SIGSEGV, previous_plain, 0);
}

static void before_crashing(void)
{
    handle(SIGSEGV, previous_that_crashes, 0);
}

static void before_crashing_again(void)
{
    handle(SIGSEGV, previous_that_crashes, SA_NODEFER);
}

static void before_aborting(void)
{
    handle(SIGSEGV, previous_that_aborts, 0);
}

static void before_once(void)
{
    handle(SIGSEGV, previous_that_returns, SA_RESETHAND);
}

static void before_jumping(void)
{
    handle(SIGSEGV, previous_that_jumps, 0);
}

static void before_ignoring(void)
{
    handle(SIGSEGV, SIG_IGN, 0);
}

static void before_jumping_or_restoring(void)
{
    handle(SIGSEGV, previous_that_jumps_or_restores, 0);
}

static void before_jumping_or_raising(void)
{
    handle(SIGSEGV, previous_that_jumps_or_raises, 0);
}

static void before_jumping_or_aborting(void)
{
    handle(SIGSEGV, previous_that_jumps_or_aborts, 0);
}

static void before_ignoring_traps(void)
{
    handle(SIGTRAP, SIG_IGN, 0);
}

static void before_stepping_over(void)
{
    handle_siginfo(SIGILL, previous_that_steps_over);
}

static void before_reader_gone(void)
{
    make_report_a_pipe(false);
}

static void before_reader_asleep(void)
{
    make_report_a_pipe(true);
}

static void before_terminal_asleep(void)
{
    make_report_a_terminal();
}

/* Somebody else wants an end to this, in the middle of the report. */
static void before_sent_meanwhile(void)
{
    pid_t parent = getpid();

    before_reader_asleep();
    if (fork() == 0) {
        usleep(
            300000); /* in the middle of the five seconds that the report waits; when, makes no difference */
        kill(parent, SIGABRT);
        _exit(0);
    }
}

static void in_thread(void)
{
    run_threads(1, thread_with_stack, crash_null);
}

static void in_thread_overflow(void)
{
    run_threads(1, thread_with_stack, crash_overflow);
}

static void in_thread_own_memory(void)
{
    run_threads(1, thread_with_own_memory, crash_overflow);
}

static void in_thread_bare(void)
{
    run_threads(1, thread_without_stack, crash_null);
}

static void in_thread_bare_overflow(void)
{
    run_threads(1, thread_without_stack, crash_overflow);
}

static void in_two_threads(void)
{
    run_threads(2, thread_with_others, crash_null);
}

static void in_threads_that_go_on(void)
{
    run_threads(THREADS, thread_with_others, crash_ill);
    exit(0);
}

static void after_close(void)
{
    close_report();
    crash_null();
}

static void none(void)
{
}

static const struct situation situations[] = {
    { "null", none, crash_null },
    { "bus", none, crash_bus },
    { "ill", none, crash_ill },
    { "fpe", none, crash_fpe },
    { "trap", none, crash_trap },
    { "abort", none, crash_abort },
    { "sys", none, crash_sys_filtered },
    { "sys-raised", none, crash_sys_raised },
    { "filtered", none, crash_filtered },
    { "overflow", none, crash_overflow },
    { "killed", none, crash_killed },
    { "thread", none, in_thread },
    { "thread-overflow", none, in_thread_overflow },
    { "thread-own-memory", none, in_thread_own_memory },
    { "thread-bare", none, in_thread_bare },
    { "thread-bare-overflow", none, in_thread_bare_overflow },
    { "two-threads", none, in_two_threads },
    { "threads-that-go-on", before_stepping_over, in_threads_that_go_on },
    { "previous-siginfo", before_siginfo, crash_null },
    { "previous-plain", before_plain, crash_null },
    { "previous-crashes", before_crashing, crash_null },
    { "previous-crashes-again", before_crashing_again, crash_null },
    { "previous-aborts", before_aborting, crash_null },
    { "previous-once", before_once, crash_null },
    { "ignored", before_ignoring, crash_null },
    { "ignored-killed", before_ignoring, crash_killed },
    { "ignored-raised", before_ignoring_traps, crash_raised },
    { "ignored-trap", before_ignoring_traps, crash_trap },
    { "reused", none, crash_reused },
    { "no-room", none, crash_without_room },
    { "little-room", none, crash_with_little_room },
    { "recovered", before_jumping, crash_and_recover },
    { "recovered-restores", before_jumping_or_restoring, crash_after_all },
    { "recovered-raises", before_jumping_or_raising, crash_after_all },
    { "recovered-aborts", before_jumping_or_aborting, crash_after_all },
    { "recovered-default", before_jumping, crash_bus_after_all },
    { "tables-gone", none, crash_without_tables },
    { "closed", none, after_close },
    { "reader-gone", before_reader_gone, crash_null },
    { "reader-asleep", before_reader_asleep, crash_null },
    { "terminal-asleep", before_terminal_asleep, crash_null },
    { "sent-meanwhile", before_sent_meanwhile, crash_null },
    { "uninstalled", before_plain, crash_uninstalled },
#ifdef __cplusplus
    { "throw", none, crash_throw },
    { "method", none, crash_method },
#endif
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        if (argc < 2 || strcmp(situations[i].name, argv[1]) != 0)
            continue;
        situations[i].before();
        if (install() != SFB_OK)
            return 97;
        situations[i].crash();
        return 98;
    }
    return 99;
}
