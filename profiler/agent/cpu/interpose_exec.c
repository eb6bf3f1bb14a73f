/*
 * exec: the new program begins with SIGPROF ignored, not pending.
 *
 * Calls between these functions inside the C library are not interposed, so each function is here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "profiler/agent/cpu/cpu_process.h"
#include "profiler/agent/cpu/prof_action.h"
#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

static void before_exec(void)
{
    struct sigaction action;

    sfb_prof_action_get(&action);
    sfb_process_before_exec(!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN);
    sfb_prof_signal_before_exec();
}

/* Runs a call that returns only if it failed. A child of vfork() has no timers: only its signal mask needs care. */
#define EXEC(call)                                                                                 \
    do {                                                                                           \
        bool ours = sfb_prof_signal_is_ours(SIGPROF);                                              \
        bool held = !ours && sfb_prof_signal_hold();                                               \
        int saved_errno;                                                                           \
                                                                                                   \
        if (ours)                                                                                  \
            before_exec();                                                                         \
        (call);                                                                                    \
        saved_errno = errno;                                                                       \
        if (ours)                                                                                  \
            sfb_prof_signal_after_exec();                                                          \
        if (held)                                                                                  \
            sfb_prof_signal_release();                                                             \
        errno = saved_errno;                                                                       \
        return -1;                                                                                 \
    } while (0)

SFB_INTERPOSED int execve(const char *path, char *const argv[], char *const envp[])
{
    EXEC(sfb_real()->execve(path, argv, envp));
}

SFB_INTERPOSED int execv(const char *path, char *const argv[])
{
    EXEC(sfb_real()->execve(path, argv, environ));
}

SFB_INTERPOSED int execvpe(const char *file, char *const argv[], char *const envp[])
{
    EXEC(sfb_real()->execvpe(file, argv, envp));
}

SFB_INTERPOSED int execvp(const char *file, char *const argv[])
{
    EXEC(sfb_real()->execvpe(file, argv, environ));
}

SFB_INTERPOSED int fexecve(int fd, char *const argv[], char *const envp[])
{
    EXEC(sfb_real()->fexecve(fd, argv, envp));
}

SFB_INTERPOSED int execveat(int fd, const char *path, char *const argv[], char *const envp[],
                            int flags);

SFB_INTERPOSED int execveat(int fd, const char *path, char *const argv[], char *const envp[],
                            int flags)
{
    EXEC(sfb_real()->execveat(fd, path, argv, envp, flags));
}

/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized,bugprone-macro-parentheses): it loses sight of va_start() in a macro */

/*
 * Collects the words of a call and their NULL in an array on the stack, as the C library does. The user of the macro
 * calls va_end().
 */
#define COLLECT(array, arg)                                                                        \
    va_list words;                                                                                 \
    size_t count = 1;                                                                              \
                                                                                                   \
    va_start(words, arg);                                                                          \
    while (va_arg(words, char *))                                                                  \
        count++;                                                                                   \
    va_end(words);                                                                                 \
    char **array = __builtin_alloca((count + 1) * sizeof *(array));                                \
    va_start(words, arg);                                                                          \
    (array)[0] = (char *)(uintptr_t)(arg);                                                         \
    for (size_t i = 1; i <= count; i++)                                                            \
    (array)[i] = va_arg(words, char *)

SFB_INTERPOSED int execl(const char *path, const char *arg, ...)
{
    COLLECT(argv, arg);
    va_end(words);
    return execv(path, argv);
}

SFB_INTERPOSED int execlp(const char *file, const char *arg, ...)
{
    COLLECT(argv, arg);
    va_end(words);
    return execvp(file, argv);
}

SFB_INTERPOSED int execle(const char *path, const char *arg, ...)
{
    char *const *envp;

    COLLECT(argv, arg);
    envp = va_arg(words, char *const *);
    va_end(words);
    return execve(path, argv, envp);
}

/* NOLINTEND(clang-analyzer-valist.Uninitialized,bugprone-macro-parentheses) */
