/* Filters of system calls: what the program does not call itself ends it. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/tests/record/burn.h"
#include "profiler/tests/record/program.h"

/* Work that makes no system call. */
static void work(void)
{
    for (volatile unsigned long i = 0; i < 100000000; i++)
        ;
}

static int strict(char *words[])
{
    burn_ms((unsigned)atoi(words[0]));
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        return 1;
    work();
    syscall(SYS_exit, 0);
    return 1;
}

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* filter prctl|seccomp MS */
static int filter(char *words[])
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_rt_sigaction),
        ALLOW(SYS_rt_sigprocmask),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };
    sigset_t none;
    long result;

    burn_ms((unsigned)atoi(words[1]));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 1;
    if (strcmp(words[0], "prctl") == 0)
        result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    else
        result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    if (result != 0)
        return 1;
    work();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPROF, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    return 0;
}

const struct program_mode program_filter[] = {
    { "strict", strict },
    { "filter", filter },
    { NULL, NULL },
};
