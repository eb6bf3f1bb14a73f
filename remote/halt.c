#include "remote/halt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static long number_of(const char *status, const char *word)
{
    const char *at = strstr(status, word);

    return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

/*
 * Whether it is the first thread of a child of this process, whose own code waits for its end. The end of another thread has to
 * be taken, or the process never ends.
 */
static bool is_own_child(pid_t tid)
{
    char path[32], text[1024];
    ssize_t size;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return number_of(text, "\nTgid:") == tid && number_of(text, "\nPPid:") == getpid();
}

/*
 * As waitpid() does it, but the end of a child of this process is left for others to wait for.
 *
 * @return as of waitpid(); a status that is no stop: it has ended
 */
static pid_t ask_news(pid_t tid, int *status)
{
    siginfo_t news = { .si_pid = 0 };

    *status = 0;
    if (waitid(P_PID, (id_t)tid, &news, WSTOPPED | WEXITED | WNOWAIT | WNOHANG | __WALL) != 0)
        return -1;
    if (news.si_pid == 0)
        return 0;
    if (news.si_code != CLD_STOPPED && news.si_code != CLD_TRAPPED && is_own_child(tid))
        return tid;
    return waitpid(tid, status, __WALL | WNOHANG);
}

/* @return whether it is still late */
static bool is_late(pid_t tid)
{
    int status;
    const pid_t got = ask_news(tid, &status);

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
        const pid_t got = ask_news(tid, &status);

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
