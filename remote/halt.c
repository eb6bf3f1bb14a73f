#include "remote/halt.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { LATE_MS = 1000, SLICE_MS = 10 };

/* Waits for news of a child: its signal is blocked. At most a slice, for it may be ignored. */
static void wait_a_while(const sigset_t *news)
{
    const struct timespec slice = { .tv_nsec = SLICE_MS * 1000000L };

    sigtimedwait(news, NULL, &slice);
}

static enum remote_halted wait_for_stop(struct remote_halt *out, const sigset_t *news)
{
    int status;

    for (unsigned slice = 0; slice <= LATE_MS / SLICE_MS;) {
        pid_t got = waitpid(out->tid, &status, __WALL | WNOHANG);

        if (got < 0)
            return errno == ECHILD ? REMOTE_HALT_GONE : REMOTE_HALT_REFUSED;
        if (got == 0) {
            wait_a_while(news);
            slice++;
            continue;
        }
        if (!WIFSTOPPED(status))
            return REMOTE_HALT_GONE;
        /* A signal that came first stops it as well, and is not lost. */
        out->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
        return REMOTE_HALTED;
    }
    return REMOTE_HALT_LATE;
}

enum remote_halted remote_halt(struct remote_halt *out, pid_t tid)
{
    enum remote_halted halted;
    sigset_t news;

    *out = (struct remote_halt){ .tid = tid };
    sigemptyset(&news);
    sigaddset(&news, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &news, &out->mask);
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        halted = errno == ESRCH ? REMOTE_HALT_GONE : REMOTE_HALT_REFUSED;
    else if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        halted = REMOTE_HALT_GONE;
    else
        halted = wait_for_stop(out, &news);
    if (halted != REMOTE_HALTED)
        pthread_sigmask(SIG_SETMASK, &out->mask, NULL);
    return halted;
}

void remote_halt_end(const struct remote_halt *halt)
{
    ptrace(PTRACE_DETACH, halt->tid, NULL, (void *)(intptr_t)halt->signal);
    pthread_sigmask(SIG_SETMASK, &halt->mask, NULL);
}
