/*
 * count_calls [NAME=VALUE...] PROGRAM [ARGUMENT...]: runs a program, and prints how many system calls its first thread
 * made as the last line on stderr. Children and other threads are not counted. Exits as the program does; 77: it may
 * not be traced here.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel stops it at both ends of each call. */
static int count(pid_t child, unsigned long *stops)
{
    int status, number = 0;

    while (ptrace(PTRACE_SYSCALL, child, NULL, (void *)(long)number) == 0 &&
           waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        number = WSTOPSIG(status);
        if (number == (SIGTRAP | 0x80)) {
            ++*stops;
            number = 0;
        } else if (number == SIGTRAP) {
            number = 0; /* it has executed the program */
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    unsigned long stops = 0;
    int status, result;
    pid_t child;

    for (; argc > 1 && strchr(argv[1], '='); argc--)
        argv++;
    child = argc > 1 ? fork() : -1;
    if (child == 0) {
        for (char **set = argv; strchr(*set, '='); set--)
            putenv(*set);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        raise(SIGSTOP);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 99;
    if (!WIFSTOPPED(status))
        return WEXITSTATUS(status);
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0)
        return 77;
    result = count(child, &stops);
    fprintf(stderr, "%lu\n", stops / 2);
    return result;
}
