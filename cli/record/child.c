#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/parts.h"

/* As execvp() does it: what is no program is read by a shell. */
static void execute(const char *path, char **arguments, char **environment)
{
    size_t count = 0;
    char **shell;

    execve(path, arguments, environment);
    if (errno != ENOEXEC)
        return;
    while (arguments[count])
        count++;
    shell = calloc(count + 2, sizeof *shell);
    if (!shell)
        return;
    shell[0] = strdup("/bin/sh");
    shell[1] = strdup(path);
    for (size_t i = 1; i < count; i++)
        shell[i + 1] = arguments[i];
    execve(shell[0], shell, environment);
}

/* It is not to start if its parent has gone. */
static void run(int go, int error, const char *path, char **arguments, char **environment)
{
    char byte;
    int cause;

    if (read(go, &byte, 1) != 1)
        _exit(TOOL_FAILED);
    execute(path, arguments, environment);
    cause = errno;
    if (write(error, &cause, sizeof cause) != (ssize_t)sizeof cause)
        _exit(TOOL_FAILED);
    _exit(TOOL_NOT_EXECUTABLE);
}

bool record_child_make(struct record_child *out, const char *path, char **arguments,
                       char **environment)
{
    int go[2], error[2];

    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) {
        tool_complain(TOOL_FAILED, "record: a pipe: %s", strerror(errno));
        return false;
    }
    out->pid = fork();
    if (out->pid == 0) {
        close(go[1]);
        run(go[0], error[1], path, arguments, environment);
    }
    if (out->pid < 0)
        tool_complain(TOOL_FAILED, "record: fork: %s", strerror(errno));
    close(go[0]);
    close(error[1]);
    out->go = go[1];
    out->error = error[0];
    return out->pid > 0;
}

int record_child_start(struct record_child *child)
{
    int cause = 0;
    ssize_t size;

    if (write(child->go, "", 1) != 1)
        cause = errno;
    close(child->go);
    do
        size = read(child->error, &cause, sizeof cause);
    while (size < 0 && errno == EINTR);
    close(child->error);
    return cause;
}

void record_child_drop(struct record_child *child)
{
    close(child->go);
    close(child->error);
    waitpid(child->pid, NULL, 0);
}
