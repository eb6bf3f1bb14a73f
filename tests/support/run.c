/*
 * The streams are files in memory, not pipes: the test needs to write and read no two of them at
 * the same time, and what is written is all there when the line has ended.
 */
#include "support/run.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/limit.h"
#include "support/test.h"

static int memory_file(const void *bytes, size_t size)
{
    int fd = memfd_create("run", MFD_CLOEXEC);

    cr_assert(fd >= 0);
    cr_assert(size == 0 || write(fd, bytes, size) == (ssize_t)size);
    cr_assert(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static char *contents(int fd, size_t *size)
{
    off_t end = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)end + 1);

    cr_assert(end >= 0 && text != NULL);
    cr_assert(pread(fd, text, (size_t)end, 0) == (ssize_t)end);
    close(fd);
    *size = (size_t)end;
    return text;
}

/* Waits for a process, whose group it kills when the time is over. */
static int wait_for(pid_t child, const sigset_t *ended, const char *line)
{
    struct timespec second = { .tv_sec = 1 };
    int status = 0;
    pid_t pid = 0;

    for (int left = HANG_SECONDS; (pid = waitpid(child, &status, WNOHANG)) == 0 && left > 0;)
        if (sigtimedwait(ended, NULL, &second) < 0)
            left--;
    if (pid == 0) {
        kill(-child, SIGKILL);
        waitpid(child, &status, 0);
    }
    cr_assert(pid == child, "after %d s it still ran: %s", HANG_SECONDS, line);
    return status;
}

static int execute(const char *line, int in, int out, int err)
{
    sigset_t ended, before;
    pid_t child;
    int status;

    fflush(NULL);
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, &before);
    child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        setpgid(0, 0);
        if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2)
            execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    status = wait_for(child, &ended, line);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct run run_with_input(const void *input, size_t size, const char *format, ...)
{
    int in = memory_file(input, size), out = memory_file(NULL, 0), err = memory_file(NULL, 0);
    size_t err_size;
    struct run run;
    va_list arguments;
    char *line = NULL;

    va_start(arguments, format);
    cr_assert(vasprintf(&line, format, arguments) >= 0);
    va_end(arguments);
    run.status = execute(line, in, out, err);
    free(line);
    close(in);
    run.out = contents(out, &run.out_size);
    run.err = contents(err, &err_size);
    return run;
}

void run_free(struct run *run)
{
    free(run->out);
    free(run->err);
}

void run_expect_text(const char *name, const char *got, const char *want)
{
    for (size_t line = 1; *got || *want; line++) {
        size_t got_size = strcspn(got, "\n"), want_size = strcspn(want, "\n");
        bool same = got_size == want_size && got[got_size] == want[want_size] &&
                    memcmp(got, want, got_size) == 0;

        cr_expect(same, "%s, line %zu:\n  got  |%.*s|\n  want |%.*s|", name, line, (int)got_size,
                  got, (int)want_size, want);
        if (!same)
            return;
        got += got_size + (got[got_size] == '\n');
        want += want_size + (want[want_size] == '\n');
    }
}

size_t run_count_lines(const char *text)
{
    size_t lines = 0;

    while (*text) {
        const char *newline = strchr(text, '\n');

        lines++;
        text = newline ? newline + 1 : text + strlen(text);
    }
    return lines;
}
