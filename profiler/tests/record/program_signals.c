/* Programs that use SIGPROF themselves, or block it. Each checks what it would see without the agent. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/tests/record/burn.h"
#include "profiler/tests/record/program.h"
#include "support/painted.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

enum { RESTORER = 0x04000000 }; /* the C library's own flag, which shows */

static volatile sig_atomic_t calls, last_code, last_value;

static void count(int signo)
{
    calls += signo == SIGPROF;
}

static void count_info(int signo, siginfo_t *info, void *context)
{
    calls += signo == SIGPROF && context;
    last_code = info->si_code;
    last_value = info->si_value.sival_int;
}

static int start_timer(unsigned ms)
{
    struct itimerval when = { { .tv_usec = (int)ms * 1000 }, { .tv_usec = (int)ms * 1000 } };

    return setitimer(ITIMER_PROF, &when, NULL);
}

static int is_blocked(void)
{
    sigset_t now;

    return pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 ? sigismember(&now, SIGPROF) : -1;
}

static void *sees_blocked(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)is_blocked();
}

/* What was set is read back. */
static int reads_back(char *words[])
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER }, old;
    sigset_t set, was;
    pthread_t thread;
    void *seen;

    CHECK(sigaction(SIGPROF, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
    action.sa_sigaction = count_info;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK(sigaction(SIGPROF, &action, &old) == 0 && old.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGPROF, NULL, &old) == 0 && old.sa_sigaction == count_info);
    CHECK((old.sa_flags & ~RESTORER) == action.sa_flags && sigismember(&old.sa_mask, SIGUSR1) == 1);
    CHECK(signal(SIGPROF, count) == (sighandler_t)(void (*)(void))count_info);
    CHECK(signal(SIGPROF, SIG_DFL) == count && signal(SIGPROF, SIG_ERR) == SIG_ERR);
    CHECK(signal(SIGUSR1, count) == SIG_DFL && signal(SIGUSR1, SIG_DFL) == count);

    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set, &was) == 0 && !sigismember(&was, SIGPROF));
    CHECK(is_blocked() == 1);
    CHECK(pthread_create(&thread, NULL, sees_blocked, NULL) == 0 &&
          pthread_join(thread, &seen) == 0);
    CHECK(seen == (void *)1);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(sigprocmask(SIG_UNBLOCK, &set, &was) == 0 && sigismember(&was, SIGPROF) &&
          sigismember(&was, SIGUSR2));
    CHECK(is_blocked() == 0);
    CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0 && is_blocked() == 1);
    sigemptyset(&set);
    CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0 && is_blocked() == 0);
    return 0;
}

/* A profiler of its own, as gperftools and Python have it. */
static int own_timer(char *words[])
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

    action.sa_sigaction = count_info;
    CHECK(sigaction(SIGPROF, &action, NULL) == 0 && start_timer(10) == 0);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(calls > 1 && last_code == SI_KERNEL);
    return 0;
}

/* One with a timer of the same kind as the agent's. */
static int own_thread_timer(char *words[])
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
    struct itimerspec when = { { .tv_nsec = 10000000 }, { .tv_nsec = 10000000 } };
    timer_t timer;

    event.sigev_value.sival_int = 42;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    action.sa_sigaction = count_info;
    CHECK(sigaction(SIGPROF, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0 &&
          timer_settime(timer, 0, &when, NULL) == 0);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(calls > 1 && last_code == SI_TIMER && last_value == 42);
    return 0;
}

/* A signal waits while the program blocks it. */
static int waits_while_blocked(char *words[])
{
    sigset_t set;

    signal(SIGPROF, count);
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && start_timer(10) == 0);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(calls == 0);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 && calls > 0);
    return 0;
}

static int dies_by_default(char *words[])
{
    CHECK(start_timer(10) == 0);
    burn_ms((unsigned)atoi(words[0]));
    return 1;
}

/* Signals without a sender, as the kernel sends them above RLIMIT_SIGPENDING. */
static int gets_empty(char *words[])
{
    siginfo_t info = { .si_signo = SIGPROF, .si_code = SI_USER };

    burn_ms((unsigned)atoi(words[0]));
    for (int i = 0; i < 10; i++)
        CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGPROF, &info) == 0);
    return 0;
}

static int ignores(char *words[])
{
    CHECK(signal(SIGPROF, SIG_IGN) == SIG_DFL && start_timer(10) == 0);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(raise(SIGPROF) == 0);
    return 0;
}

/* Called once, then the default. */
static int resets(char *words[])
{
    struct sigaction action = { .sa_handler = count, .sa_flags = (int)SA_RESETHAND }, now;

    CHECK(sigaction(SIGPROF, &action, NULL) == 0 && raise(SIGPROF) == 0 && calls == 1);
    CHECK(sigaction(SIGPROF, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    burn_ms((unsigned)atoi(words[0]));
    raise(SIGPROF);
    return 1;
}

static sigjmp_buf back;

static void jump(int signo)
{
    (void)signo;
    siglongjmp(back, 1);
}

static int jumps_out(char *words[])
{
    volatile int jumps = 0;

    signal(SIGPROF, jump);
    if (sigsetjmp(back, 1) != 0)
        jumps++;
    if (jumps < 5)
        raise(SIGPROF);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(jumps == 5 && is_blocked() == 0);
    return 0;
}

static volatile int masked_right;

/* The mask of the program's own handler holds in it. */
static void look_at_mask(int signo)
{
    sigset_t now;

    (void)signo;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    masked_right = sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGUSR2) == 0 &&
                   sigismember(&now, SIGPROF) == 1;
}

/* As libunwind does in gperftools' handler. */
static void block_and_restore(int signo)
{
    sigset_t all, old;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    sigprocmask(SIG_SETMASK, &old, NULL);
    count(signo);
}

static int masks_in_handler(char *words[])
{
    CHECK(signal(SIGPROF, block_and_restore) == SIG_DFL);
    for (int i = 1; i <= 5; i++)
        CHECK(raise(SIGPROF) == 0 && calls == i && is_blocked() == 0);
    burn_ms((unsigned)atoi(words[0]));
    return 0;
}

static int handlers_mask(char *words[])
{
    struct sigaction action = { .sa_handler = look_at_mask };

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK(sigaction(SIGPROF, &action, NULL) == 0 && raise(SIGPROF) == 0 && masked_right);
    CHECK(is_blocked() == 0);
    burn_ms((unsigned)atoi(words[0]));
    return 0;
}

static void *blocks_all(void *ms)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    burn_ms((unsigned)(uintptr_t)ms);
    return NULL;
}

static int all_blocked(char *words[])
{
    void *ms = (void *)(uintptr_t)atoi(words[0]);
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, blocks_all, ms) == 0);
    blocks_all(ms);
    return pthread_join(thread, NULL) != 0;
}

/* A handler of another signal, with all blocked, that works: what it uses is in the next sample. */
static void works(int signo)
{
    (void)signo;
    burn_ms(60);
}

static int works_in_handler(char *words[])
{
    struct sigaction action = { .sa_handler = works };

    sigfillset(&action.sa_mask);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0);
    burn_ms((unsigned)atoi(words[0]));
    return 0;
}

/* errno is as it was, whenever the agent's handler comes. */
static int keeps_errno(char *words[])
{
    uint64_t end = cpu_of(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)atoi(words[0]) * 1000000U;

    while (cpu_of(CLOCK_THREAD_CPUTIME_ID) < end) {
        errno = 4242;
        for (volatile int i = 0; i < 100000; i++)
            ;
        CHECK(errno == 4242);
    }
    return 0;
}

static void nothing(int signo)
{
    (void)signo;
}

/* Bytes of the alternate stack that the agent's handler used, less what an empty handler and the kernel do. */
static int uses_stack(char *words[])
{
    static uint8_t stack[PAINTED_SIZE];
    struct sigaction action = { .sa_handler = nothing, .sa_flags = SA_ONSTACK };
    const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    size_t empty;

    paint(stack);
    CHECK(sigaltstack(&alternate, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0);
    empty = painted_used(stack);
    CHECK(dlopen("no-such-library.so", RTLD_NOW) ==
          NULL); /* the list of modules is renewed in the handler */
    burn_ms((unsigned)atoi(words[0]));
    printf("%zu\n", painted_used(stack) - empty);
    return 0;
}

/* exec_finds WHAT: a new program finds SIGPROF as exec leaves it: the default, or ignored if it was before. */
static int finds(char *words[])
{
    struct sigaction action;

    CHECK(sigaction(SIGPROF, NULL, &action) == 0);
    CHECK(action.sa_handler == (strcmp(words[0], "ignored") == 0 ? SIG_IGN : SIG_DFL));
    return 0;
}

static int exec_finds(char *words[])
{
    signal(SIGPROF, strcmp(words[0], "ignored") == 0   ? SIG_IGN
                    : strcmp(words[0], "handler") == 0 ? count
                                                       : SIG_DFL);
    execl("/proc/self/exe", "program", "finds", words[0], (char *)NULL);
    return 1;
}

static int finds_blocked(char *words[])
{
    return is_blocked() != atoi(words[0]);
}

static int status_of(pid_t child)
{
    int status;

    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): what programs do all the same */
/* A new program inherits the mask, in all ways. */
static int mask_is_inherited(char *words[])
{
    char *list[] = { (char *)(uintptr_t) "program", (char *)(uintptr_t) "finds_blocked", NULL,
                     NULL };
    sigset_t prof;
    pid_t child;

    (void)words;
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    for (int blocks = 0; blocks < 2; blocks++) {
        list[2] = (char *)(uintptr_t)(blocks ? "1" : "0");
        CHECK(sigprocmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &prof, NULL) == 0);
        CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, list, environ) == 0);
        CHECK(status_of(child) == 0);
        CHECK(posix_spawnp(&child, "/proc/self/exe", NULL, NULL, list, environ) == 0);
        CHECK(status_of(child) == 0);
        child = vfork();
        if (child == 0) {
            execve("/proc/self/exe", list, environ);
            _exit(126);
        }
        CHECK(status_of(child) == 0 && is_blocked() == blocks);
    }
    return 0;
}
/* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */

const struct program_mode program_signals[] = {
    { "finds_blocked", finds_blocked },
    { "mask_is_inherited", mask_is_inherited },
    { "reads_back", reads_back },
    { "own_timer", own_timer },
    { "own_thread_timer", own_thread_timer },
    { "waits_while_blocked", waits_while_blocked },
    { "dies_by_default", dies_by_default },
    { "gets_empty", gets_empty },
    { "ignores", ignores },
    { "resets", resets },
    { "jumps_out", jumps_out },
    { "handlers_mask", handlers_mask },
    { "finds", finds },
    { "exec_finds", exec_finds },
    { "keeps_errno", keeps_errno },
    { "uses_stack", uses_stack },
    { "masks_in_handler", masks_in_handler },
    { "all_blocked", all_blocked },
    { "works_in_handler", works_in_handler },
    { NULL, NULL },
};
