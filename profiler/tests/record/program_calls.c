/* The rarer functions for signals: System V's and BSD's, those that wait with another mask, and alternate stacks. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <unistd.h>

#include "profiler/tests/record/burn.h"
#include "profiler/tests/record/program.h"
#include "support/limit.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static volatile sig_atomic_t calls;

static void count(int signo)
{
    calls += signo == SIGPROF;
}

static bool is_blocked(void)
{
    sigset_t now;

    return pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGPROF) == 1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* System V's: what is set is read back, and no signal of the agent reaches the handler. */
static int system_v(char *words[])
{
    struct sigaction now;

    CHECK(sigset(SIGPROF, count) == SIG_DFL);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(calls == 0 && raise(SIGPROF) == 0 && calls == 1);
    CHECK(sigset(SIGPROF, SIG_HOLD) == count && is_blocked());
    CHECK(raise(SIGPROF) == 0 && calls == 1);
    CHECK(sigset(SIGPROF, count) == SIG_HOLD && !is_blocked() && calls == 2);
    CHECK(sighold(SIGPROF) == 0 && is_blocked() && sigrelse(SIGPROF) == 0 && !is_blocked());
    CHECK(sigset(SIGUSR1, SIG_IGN) == SIG_DFL && sigset(SIGUSR1, SIG_DFL) == SIG_IGN);
    CHECK(sigset(SIGKILL, count) == SIG_ERR);
    CHECK(sigignore(SIGPROF) == 0 && sigaction(SIGPROF, NULL, &now) == 0);
    CHECK(now.sa_handler == SIG_IGN && raise(SIGPROF) == 0);
    return 0;
}

/* BSD's. */
static int bsd(char *words[])
{
    const int prof = 1 << (SIGPROF - 1);
    struct sigaction now;

    CHECK(ssignal(SIGPROF, count) == SIG_DFL);
    burn_ms((unsigned)atoi(words[0]));
    CHECK(calls == 0 && raise(SIGPROF) == 0 && calls == 1);
    CHECK(siginterrupt(SIGPROF, 1) == 0 && sigaction(SIGPROF, NULL, &now) == 0);
    CHECK(now.sa_handler == count && !(now.sa_flags & SA_RESTART));
    CHECK(ssignal(SIGPROF, count) == count && sigaction(SIGPROF, NULL, &now) == 0);
    CHECK(!(now.sa_flags & SA_RESTART) && siginterrupt(SIGPROF, 0) == 0);
    CHECK(sigaction(SIGPROF, NULL, &now) == 0 && now.sa_flags & SA_RESTART);
    CHECK(sigblock(prof) == 0 && is_blocked());
    burn_ms((unsigned)atoi(words[0]));
    CHECK(sigsetmask(0) == prof && !is_blocked());
    return 0;
}

#pragma GCC diagnostic pop

static int suspend(const sigset_t *mask)
{
    return sigsuspend(mask);
}

static int poll_masked(const sigset_t *mask)
{
    const struct timespec second = { .tv_sec = 1 };

    return ppoll(NULL, 0, &second, mask);
}

static int select_masked(const sigset_t *mask)
{
    const struct timespec second = { .tv_sec = 1 };

    return pselect(0, NULL, NULL, NULL, &second, mask);
}

static int epoll_masked(const sigset_t *mask)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event;
    int result = epoll_pwait(fd, &event, 1, 1000, mask), saved_errno = errno;

    close(fd);
    errno = saved_errno;
    return result;
}

/* A call that waits and lets SIGPROF through ends with what came before it; the mask is then as it was. */
static int waits_with_mask(char *words[])
{
    static int (*const waits[])(const sigset_t *) = { suspend, poll_masked, select_masked,
                                                      epoll_masked };
    struct sigaction action = { .sa_handler = count };
    sigset_t prof, none;

    sigemptyset(&none);
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    CHECK(sigaction(SIGPROF, &action, NULL) == 0 && sigprocmask(SIG_BLOCK, &prof, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        alarm(HANG_SECONDS);
        CHECK(raise(SIGPROF) == 0 && calls == i);
        errno = 0;
        while (calls == i) /* a sample may end it, too */
            CHECK(waits[i](&none) == -1 && errno == EINTR);
        CHECK(calls == i + 1 && is_blocked());
        burn_ms((unsigned)atoi(words[0]) / 4);
    }
    CHECK(sigprocmask(SIG_UNBLOCK, &prof, NULL) == 0 && calls == 4);
    CHECK(waits[1](&prof) == 0 && waits[3](NULL) == 0 && !is_blocked());
    return 0;
}

/* small_stack BYTES MS: an alternate stack that nothing but the agent could use, behind a page that is not there */
static int small_stack(char *words[])
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    stack_t stack = { .ss_size = (size_t)atoi(words[0]) }, now;
    char *at = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(at != MAP_FAILED && mprotect(at, page, PROT_NONE) == 0);
    stack.ss_sp = at + page;
    CHECK(sigaltstack(&stack, NULL) == 0);
    burn_ms((unsigned)atoi(words[1]));
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == stack.ss_sp);
    for (size_t i = 0; i < stack.ss_size; i++)
        CHECK(at[page + i] == 0);
    return 0;
}

const struct program_mode program_calls[] = {
    { "small_stack", small_stack },
    { "waits_with_mask", waits_with_mask },
    { "system_v", system_v },
    { "bsd", bsd },
    { NULL, NULL },
};
