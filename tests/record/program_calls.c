/* The rarer functions for signals: those of System V and BSD, and those that wait with another mask. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/burn.h"
#include "record/program.h"

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

const struct program_mode program_calls[] = {
    { "system_v", system_v },
    { "bsd", bsd },
    { NULL, NULL },
};
