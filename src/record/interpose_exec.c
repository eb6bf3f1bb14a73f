/*
 * exec: the new program begins with SIGPROF ignored rather than pending.
 *
 * The C library's own calls among these functions are not seen, so each of them is here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "record/interpose.h"
#include "record/process.h"
#include "record/prof_action.h"
#include "record/prof_signal.h"
#include "record/real.h"

static void before_exec(void)
{
    struct sigaction action;

    sfb_prof_action_get(&action);
    sfb_process_before_exec(!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN);
    sfb_prof_signal_before_exec();
}

/* Runs a call that comes back only if it failed. In a child of vfork() signals need no care: it has no timers. */
#define EXEC(call)                                                                                 \
    do {                                                                                           \
        bool ours = sfb_prof_signal_is_ours(SIGPROF);                                              \
        int saved_errno;                                                                           \
                                                                                                   \
        if (ours)                                                                                  \
            before_exec();                                                                         \
        (call);                                                                                    \
        saved_errno = errno;                                                                       \
        if (ours)                                                                                  \
            sfb_prof_signal_after_exec();                                                          \
        errno = saved_errno;                                                                       \
        return -1;                                                                                 \
    } while (0)

SFB_INTERPOSED int execve(const char *path, char *const arguments[], char *const environment[])
{
    EXEC(sfb_real()->execve(path, arguments, environment));
}

SFB_INTERPOSED int execv(const char *path, char *const arguments[])
{
    EXEC(sfb_real()->execve(path, arguments, environ));
}

SFB_INTERPOSED int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    EXEC(sfb_real()->execvpe(file, arguments, environment));
}

SFB_INTERPOSED int execvp(const char *file, char *const arguments[])
{
    EXEC(sfb_real()->execvpe(file, arguments, environ));
}

SFB_INTERPOSED int fexecve(int fd, char *const arguments[], char *const environment[])
{
    EXEC(sfb_real()->fexecve(fd, arguments, environment));
}

SFB_INTERPOSED int execveat(int folder, const char *path, char *const arguments[],
                            char *const environment[], int flags);

SFB_INTERPOSED int execveat(int folder, const char *path, char *const arguments[],
                            char *const environment[], int flags)
{
    EXEC(sfb_real()->execveat(folder, path, arguments, environment, flags));
}

static size_t count_words(const char *first, va_list words)
{
    size_t count = 1;

    if (!first)
        return 0;
    while (va_arg(words, char *))
        count++;
    return count;
}

/* Words of a call into an array, with the NULL behind them; as the C library does, on the stack. */
#define COLLECT(array, first)                                                                      \
    va_list words;                                                                                 \
    size_t count;                                                                                  \
                                                                                                   \
    va_start(words, first);                                                                        \
    count = count_words(first, words);                                                             \
    va_end(words);                                                                                 \
    char **array = __builtin_alloca((count + 1) * sizeof *array);                                  \
    va_start(words, first);                                                                        \
    (array)[0] = (char *)(uintptr_t)(first);                                                       \
    for (size_t i = 1; i <= count; i++)                                                            \
    (array)[i] = va_arg(words, char *)

SFB_INTERPOSED int execl(const char *path, const char *first, ...)
{
    COLLECT(arguments, first);
    va_end(words);
    return execv(path, arguments);
}

SFB_INTERPOSED int execlp(const char *file, const char *first, ...)
{
    COLLECT(arguments, first);
    va_end(words);
    return execvp(file, arguments);
}

SFB_INTERPOSED int execle(const char *path, const char *first, ...)
{
    char *const *environment;

    COLLECT(arguments, first);
    environment = va_arg(words, char *const *);
    va_end(words);
    return execve(path, arguments, environment);
}
