#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/parts.h"
#include "profiler/collector/processes/program.h"

enum { SCRIPTS_MAX = 4 }; /* as the kernel: a script's interpreter may be a script */

static bool is_executable(const char *path)
{
    struct stat file;

    if (stat(path, &file) != 0)
        return false;
    if (S_ISDIR(file.st_mode)) {
        errno = EACCES;
        return false;
    }
    return access(path, X_OK) == 0;
}

/* @return whether it is there; else errno of the best one: one that may not be executed, not one that is missing */
static bool search(char *out, const char *name)
{
    const char *places = getenv("PATH");
    int cause = ENOENT;

    if (strchr(name, '/')) {
        snprintf(out, PATH_MAX, "%s", name);
        return is_executable(out);
    }
    for (const char *at = places ? places : "/bin:/usr/bin";; at++) {
        const size_t size = strcspn(at, ":");

        snprintf(out, PATH_MAX, "%.*s%s%s", (int)size, at, size > 0 ? "/" : "", name);
        if (*name != '\0' && is_executable(out))
            return true;
        if (errno == EACCES)
            cause = EACCES;
        at += size;
        if (*at == '\0')
            break;
    }
    errno = cause;
    return false;
}

static const char link_in[] =
    "link the agent in (sframe_backtrace_record_start()), or use perf record";

/*
 * @param heap     is recorded: of a program of musl, what it starts is
 * @param outside  written: whether it is recorded from outside
 * @return 0, or the exit status after a complaint
 */
static int judge(const char *path, int depth, bool heap, bool *outside)
{
    static struct sfb_recorder_program program;

    sfb_recorder_program_look(&program, path);
    /* At an exec that gives it another user's rights the kernel ends the events of ordinary users. */
    *outside = program.kind == SFB_PROGRAM_STATIC || (program.raised && geteuid() == 0) ||
               (!heap && strstr(program.interpreter, "/ld-musl-") != NULL);
    if (*outside)
        return 0;
    if (program.raised)
        return (int)tool_complain(
            TOOL_FAILED,
            "record: %s is set-user-ID, set-group-ID or has capabilities: the "
            "loader ignores LD_PRELOAD; record as its user, or %s",
            path, link_in);
    switch (program.kind) {
    case SFB_PROGRAM_DYNAMIC:
    case SFB_PROGRAM_STATIC:
    case SFB_PROGRAM_OTHER: /* a shell reads it, and is recorded */
    case SFB_PROGRAM_UNREADABLE: /* may be executed all the same */ return 0;
    case SFB_PROGRAM_OTHER_MACHINE:
        return (int)tool_complain(TOOL_FAILED, "record: %s is for another machine than sfb", path);
    case SFB_PROGRAM_NO_LOADER:
        return (int)tool_complain(TOOL_NOT_FOUND, "record: %s: its loader %s does not exist", path,
                                  program.interpreter);
    case SFB_PROGRAM_SCRIPT: break;
    }
    if (depth == SCRIPTS_MAX)
        return 0;
    if (!is_executable(program.interpreter))
        return (int)tool_complain(errno == ENOENT ? TOOL_NOT_FOUND : TOOL_NOT_EXECUTABLE,
                                  "record: %s: its interpreter %s: %s", path, program.interpreter,
                                  strerror(errno));
    return judge(program.interpreter, depth + 1, heap, outside);
}

int record_find_program(char *path, const char *name, bool heap, bool *outside)
{
    if (!search(path, name))
        return (int)tool_complain(errno == ENOENT ? TOOL_NOT_FOUND : TOOL_NOT_EXECUTABLE,
                                  "record: %s: %s", name, strerror(errno));
    return judge(path, 0, heap, outside);
}
