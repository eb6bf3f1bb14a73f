#include "remote/halt.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { LATE_MS = 1000, SLICE_MS = 10, LATE_MAX = 1024 };

/*
 * Asked so often before this thread sleeps: a running thread stops within some microseconds, and to be woken up takes
 * longer than that, while the other one stands still.
 */
enum { ASKS = 64 };

/* Waits for news of a child: its signal is blocked. At most a slice, for it may be ignored. */
static void wait_a_while(void)
{
    const struct timespec slice = { .tv_nsec = SLICE_MS * 1000000L };
    sigset_t news;

    sigemptyset(&news);
    sigaddset(&news, SIGCHLD);
    sigtimedwait(&news, NULL, &slice);
}

/* Threads that did not stop in time, of this thread: only the tracer may let them go on. */
static _Thread_local pid_t late[LATE_MAX];
static _Thread_local size_t late_count;

/* @return whether it is still late */
static bool is_late(pid_t tid)
{
    int status;
    const pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

    if (got == tid && WIFSTOPPED(status))
        remote_halt_end(&(struct remote_halt){
            .tid = tid, .signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status) });
    return got == 0;
}

void remote_halts_settle(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < late_count; i++)
        if (is_late(late[i]))
            late[kept++] = late[i];
    late_count = kept;
}

void remote_halts_begin(sigset_t *mask)
{
    sigset_t news;

    remote_halts_settle();
    sigemptyset(&news);
    sigaddset(&news, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &news, mask);
}

void remote_halts_end(const sigset_t *mask)
{
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

enum remote_halted remote_halt_ask(pid_t tid)
{
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return errno == ESRCH ? REMOTE_HALT_GONE : REMOTE_HALT_REFUSED;
    return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 ? REMOTE_HALT_GONE : REMOTE_HALTED;
}

enum remote_halted remote_halt_wait(struct remote_halt *out, pid_t tid)
{
    int status;

    *out = (struct remote_halt){ .tid = tid };
    for (unsigned ask = 0; ask <= ASKS + LATE_MS / SLICE_MS; ask++) {
        pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

        if (got < 0)
            return errno == ECHILD ? REMOTE_HALT_GONE : REMOTE_HALT_REFUSED;
        if (got == 0) {
            if (ask >= ASKS)
                wait_a_while();
            continue;
        }
        if (!WIFSTOPPED(status))
            return REMOTE_HALT_GONE;
        /* A signal that came first stops it as well, and is not lost. */
        out->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
        return REMOTE_HALTED;
    }
    if (late_count < LATE_MAX)
        late[late_count++] = tid;
    return REMOTE_HALT_LATE;
}

void remote_halt_end(const struct remote_halt *halt)
{
    ptrace(PTRACE_DETACH, halt->tid, NULL, (void *)(intptr_t)halt->signal);
}
