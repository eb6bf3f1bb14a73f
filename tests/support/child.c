#include "support/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/limit.h"
#include "support/test.h"

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static char *contents(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);

    cr_assert(text && pread(fd, text, (size_t)size, 0) == size);
    return text;
}

void child_begin(void)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* Criterion ends tests that take too long */
}

static void become(void (*run)(void *, int), void *with, int fd)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };
    const struct rlimit no_core = { 0, 0 };

    child_begin();
    setrlimit(RLIMIT_CORE, &no_core);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], SIG_DFL); /* Criterion has handlers of its own */
    run(with, fd);
    _exit(0);
}

static volatile pid_t limited;
static volatile sig_atomic_t is_over;

static void end_limited(int number)
{
    (void)number;
    is_over = 1;
    kill(-limited, SIGKILL);
}

void child_limit(pid_t pid)
{
    struct sigaction action = { .sa_handler = end_limited, .sa_flags = SA_RESTART };

    setpgid(pid, pid); /* whoever is first */
    limited = pid;
    is_over = 0;
    sigaction(SIGALRM, &action, NULL);
    alarm(HANG_SECONDS);
}

bool child_end(pid_t pid)
{
    alarm(0);
    kill(-pid, SIGKILL);
    return !is_over;
}

struct child_started child_start(void (*run)(void *with, int fd), void *with)
{
    struct child_started started = { .fd = memfd_create("child", MFD_CLOEXEC),
                                     .at_ms = milliseconds() };

    cr_assert(started.fd >= 0);
    started.pid = fork();
    cr_assert(started.pid >= 0);
    if (started.pid == 0)
        become(run, with, started.fd);
    setpgid(started.pid, started.pid); /* whoever is first */
    return started;
}

struct child child_finish(const struct child_started *started)
{
    struct child c = { .signal = 0 };
    int status = 0;

    child_limit(started->pid);
    cr_assert(waitpid(started->pid, &status, 0) == started->pid);
    c.timed_out = !child_end(started->pid);
    c.ms = milliseconds() - started->at_ms;
    c.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    c.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    c.text = contents(started->fd);
    close(started->fd);
    return c;
}

struct child child_run(void (*run)(void *with, int fd), void *with)
{
    struct child_started started = child_start(run, with);

    return child_finish(&started);
}

void child_free(struct child *child)
{
    free(child->text);
}
