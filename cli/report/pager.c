#include "cli/report/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int signals[] = { SIGINT, SIGQUIT, SIGPIPE };

enum { SIGNALS = sizeof signals / sizeof *signals, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

/* Whether a program is in a folder of $PATH: a small container has no less, and sh would say so each time. */
static bool is_installed(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];

    for (const char *folder = path; folder;) {
        const size_t size = strcspn(folder, ":");

        if (snprintf(file, sizeof file, "%.*s/%s", (int)size, folder, name) < (int)sizeof file &&
            access(file, X_OK) == 0)
            return true;
        folder = folder[size] ? folder + size + 1 : NULL;
    }
    return false;
}

/* @return NULL: none */
static const char *command(void)
{
    const char *pager = getenv("PAGER");

    if (!pager)
        return is_installed("less") ? "less" : NULL;
    return pager[0] == '\0' || strcmp(pager, "cat") == 0 ? NULL : pager;
}

/* F: end where it fits on a screen; R: colours; X: leave the text there. */
static void run(const char *pager, int from)
{
    for (size_t i = 0; i < SIGNALS; i++)
        signal(signals[i], SIG_DFL);
    if (dup2(from, STDIN_FILENO) < 0)
        _exit(NOT_FOUND);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
    _exit(NOT_FOUND);
}

bool report_pager_begin(struct report_pager *out)
{
    const char *pager = command();
    int ends[2];

    if (!pager || fflush(stdout) != 0)
        return false;
    out->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out->terminal < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(out->terminal);
        return false;
    }
    out->pid = fork();
    if (out->pid == 0)
        run(pager, ends[0]);
    close(ends[0]);
    if (out->pid < 0 || dup2(ends[1], STDOUT_FILENO) < 0) {
        close(ends[1]);
        close(out->terminal);
        return false;
    }
    close(ends[1]);
    for (size_t i = 0; i < SIGNALS; i++)
        out->old_signals[i] = signal(signals[i], SIG_IGN);
    return true;
}

bool report_pager_end(struct report_pager *p)
{
    int status = 0;

    /* Leaving the pager early closes the pipe: not an error. */
    fflush(stdout);
    __fpurge(stdout);
    clearerr(stdout);
    dup2(p->terminal, STDOUT_FILENO);
    close(p->terminal);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    for (size_t i = 0; i < SIGNALS; i++)
        signal(signals[i], p->old_signals[i]);
    return !WIFEXITED(status) ||
           (WEXITSTATUS(status) != NOT_FOUND && WEXITSTATUS(status) != NOT_EXECUTABLE);
}
