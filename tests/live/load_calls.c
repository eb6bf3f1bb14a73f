/*
 * What loading the library costs a program of many libraries, in system calls: at most ten a library, however
 * long the libraries' tables of names are. The calls of the same program with and without the library preloaded
 * are counted by a tracer.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

enum { LIBRARIES = 40, SYSTEM_LIBRARIES = 4, CALLS_A_LIBRARY = 10 };

static void begin(const char *preload)
{
    if (preload)
        setenv("LD_PRELOAD", preload, 1);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    execl(SFB_LOAD_PROGRAM, SFB_LOAD_PROGRAM, NULL);
    _exit(127);
}

static unsigned long calls_with(const char *preload)
{
    unsigned long stops = 0;
    int status;
    pid_t child = fork();

    if (child == 0)
        begin(preload);
    cr_assert_gt(child, 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL),
                 0);
    while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status))
        stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
    cr_assert_eq(status & 0x7f, 0, "signal %d", status & 0x7f);
    cr_assert_eq(WEXITSTATUS(status), LIBRARIES);
    return stops / 2; /* at entry and at exit */
}

Test(load_calls, are_at_most_ten_a_library)
{
    unsigned long before = calls_with(NULL), with = calls_with(SFB_LOAD_LIBRARY);

    cr_expect_gt(with, before, "the library was not loaded");
    cr_expect_leq(with - before, CALLS_A_LIBRARY * (LIBRARIES + SYSTEM_LIBRARIES),
                  "%lu calls more than %lu for %d libraries", with - before, before, LIBRARIES);
}
