/* Children and new programs, and processes that leave all behind. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/record/burn.h"
#include "profiler/tests/record/program.h"

static char self[] = "/proc/self/exe";

/* Whether a child ended with a status. */
static int ended_with(pid_t pid, int status)
{
    int how = -1;

    return pid > 0 && waitpid(pid, &how, 0) == pid && WIFEXITED(how) && WEXITSTATUS(how) == status;
}

/* fork MS: parent and child work */
static int with_fork(char *words[])
{
    pid_t pid = fork();

    burn_ms((unsigned)atoi(words[0]));
    if (pid == 0)
        exit(9);
    return !ended_with(pid, 9);
}

static void *burns(void *ms)
{
    burn_ms((unsigned)(uintptr_t)ms);
    return NULL;
}

static void *forks(void *ms)
{
    pid_t pid;

    burn_ms((unsigned)(uintptr_t)ms);
    pid = fork();
    if (pid == 0) {
        pthread_t thread;

        burn_ms((unsigned)(uintptr_t)ms);
        exit(pthread_create(&thread, NULL, burns, ms) == 0 && pthread_join(thread, NULL) == 0 ? 9
                                                                                              : 1);
    }
    return (void *)(uintptr_t)ended_with(pid, 9);
}

/* Several threads, of which one forks; the child makes threads, too. */
static int fork_in_thread(char *words[])
{
    void *ms = (void *)(uintptr_t)atoi(words[0]), *result = NULL;
    pthread_t thread[3];

    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, i == 0 ? forks : burns, ms) != 0)
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], i == 0 ? &result : NULL);
    return result == NULL;
}

/* 100 children, one behind the other. */
static int fork_storm(char *words[])
{
    for (int i = 0; i < atoi(words[0]); i++) {
        pid_t pid = fork();

        if (pid == 0) {
            burn_ms(2);
            _exit(9);
        }
        if (!ended_with(pid, 9))
            return 1;
    }
    return 0;
}

/* exec MS: works, and becomes another program that works as long */
static int with_exec(char *words[])
{
    burn_ms((unsigned)atoi(words[0]));
    execl(self, self, "burn", words[0], (char *)NULL);
    return 1;
}

static void *runs_exec(void *words)
{
    with_exec(words);
    return NULL;
}

/* From another thread than the first: it gets the first one's number. */
static int exec_in_thread(char *words[])
{
    pthread_t thread;

    pthread_create(&thread, NULL, runs_exec, words);
    pthread_join(thread, NULL);
    return 1;
}

/* exec_fails MS: goes on being sampled */
static int exec_fails(char *words[])
{
    char *const none[] = { NULL };

    for (int i = 0; i < 10; i++)
        if (execv("/nonexistent", none) != -1 || errno != ENOENT)
            return 1;
    burn_ms((unsigned)atoi(words[0]));
    return 0;
}

/* execs COUNT: one program after the other, each of which works a little. Signals must kill none. */
static int execs(char *words[])
{
    char left[16];

    burn_ms(2);
    if (atoi(words[0]) == 0)
        return 0;
    snprintf(left, sizeof left, "%d", atoi(words[0]) - 1);
    execlp(self, self, "execs", left, (char *)NULL);
    return 1;
}

/* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): what programs do all the same */
/* vfork MS: the child, in the parent's memory, sets signals, fails to execute, executes, or leaves */
static int with_vfork(char *words[])
{
    struct sigaction action, ignore = { .sa_handler = SIG_IGN };
    sigset_t all, mask;
    pid_t pid;

    sigfillset(&all);
    pid = vfork();
    if (pid == 0) {
        sigaction(SIGPROF, &ignore, NULL);
        sigprocmask(SIG_BLOCK, &all, NULL);
        execl("/nonexistent", "nonexistent", (char *)NULL);
        _exit(9);
    }
    if (!ended_with(pid, 9) || sigaction(SIGPROF, NULL, &action) != 0 ||
        action.sa_handler != SIG_DFL || sigprocmask(SIG_BLOCK, NULL, &mask) != 0 ||
        sigismember(&mask, SIGPROF))
        return 1;
    pid = vfork();
    if (pid == 0) {
        execl(self, self, "burn", words[0], (char *)NULL);
        _exit(1);
    }
    burn_ms((unsigned)atoi(words[0]));
    return !ended_with(pid, 0);
}
/* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */

static int with_spawn(char *words[])
{
    static char burn[] = "burn";
    char *list[] = { self, burn, words[0], NULL };
    pid_t pid;

    if (posix_spawn(&pid, self, NULL, NULL, list, environ) != 0)
        return 1;
    burn_ms((unsigned)atoi(words[0]));
    return !ended_with(pid, 0);
}

static int with_system(char *words[])
{
    char line[512], name[400] = "";

    if (readlink(self, name, sizeof name - 1) <= 0)
        return 1;
    snprintf(line, sizeof line, "'%s' burn %s", name, words[0]);
    burn_ms((unsigned)atoi(words[0]));
    return system(line) != 0;
}

/* A child that no handler of fork() has seen: it works, but is not recorded, and nothing of the parent changes. */
static int raw_fork(char *words[])
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (pid == 0) {
        struct sigaction action = { .sa_handler = SIG_IGN };

        sigaction(SIGPROF, &action, NULL);
        burn_ms((unsigned)atoi(words[0]));
        _exit(9);
    }
    burn_ms((unsigned)atoi(words[0]));
    return !ended_with(pid, 9);
}

/* Closes all descriptors and opens some of the same numbers: nothing may be written there. */
static int closes_all(char *words[])
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    for (int fd = 3; fd < 64; fd++)
        open("/dev/full", O_RDWR);
    burn_ms((unsigned)atoi(words[0]));
    return 0;
}

/* As daemons do. The first process waits, so that the test knows when all is over. */
static int becomes_daemon(char *words[])
{
    int ends[2];
    char byte;

    if (pipe(ends) != 0)
        return 1;
    if (fork() == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        for (int fd = 0; fd < 256; fd++)
            if (fd != ends[1])
                close(fd);
        if (chdir("/") != 0)
            _exit(1);
        burn_ms((unsigned)atoi(words[0]));
        _exit(0);
    }
    close(ends[1]);
    wait(NULL);
    return read(ends[0], &byte, 1) != 0;
}

/* Gives up what it may, as servers do. */
static int gives_up_rights(char *words[])
{
    if (geteuid() != 0)
        return 77;
    if (unshare(CLONE_NEWNS | CLONE_NEWNET) != 0 && errno != EPERM)
        return 1;
    if (chroot("/proc/self/fdinfo") != 0 || chdir("/") != 0 || setgid(65534) != 0 ||
        setuid(65534) != 0)
        return 1;
    burn_ms((unsigned)atoi(words[0]));
    return 0;
}

/* Another user runs a set-user-ID program. */
static int gains_rights(char *words[])
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(77);
        execv(words[0], words);
        _exit(77);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The number of descriptors is what it would be without the agent. */
static int counts_descriptors(char *words[])
{
    int count = 0;

    burn_ms((unsigned)atoi(words[0]));
    for (int fd = 3; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    printf("%d\n", count);
    return 0;
}

const struct program_mode program_children[] = {
    { "fork", with_fork },
    { "fork_in_thread", fork_in_thread },
    { "fork_storm", fork_storm },
    { "exec", with_exec },
    { "exec_in_thread", exec_in_thread },
    { "exec_fails", exec_fails },
    { "execs", execs },
    { "vfork", with_vfork },
    { "spawn", with_spawn },
    { "system", with_system },
    { "raw_fork", raw_fork },
    { "closes_all", closes_all },
    { "daemon", becomes_daemon },
    { "gives_up_rights", gives_up_rights },
    { "gains_rights", gains_rights },
    { "descriptors", counts_descriptors },
    { NULL, NULL },
};
