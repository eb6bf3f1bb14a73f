/* The next functions behind the interposed ones: the C library's, or a later interposer's. */
#ifndef PROFILER_AGENT_REAL_H
#define PROFILER_AGENT_REAL_H

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <threads.h>
#include <unistd.h>

struct sfb_real {
    __typeof__(pthread_create) *pthread_create;
    __typeof__(thrd_create) *thrd_create;
    __typeof__(sigaction) *sigaction;
    __typeof__(signal) *signal, *sysv_signal;
    __typeof__(sigprocmask) *sigprocmask;
    int (*siginterrupt)(int, int);
    __typeof__(pthread_sigmask) *pthread_sigmask;
    __typeof__(sigaltstack) *sigaltstack;
    __typeof__(prctl) *prctl;
    __typeof__(syscall) *syscall;
    __typeof__(setrlimit) *setrlimit;
    __typeof__(setrlimit64) *setrlimit64;
    __typeof__(prlimit) *prlimit;
    __typeof__(prlimit64) *prlimit64;
    __typeof__(sigsuspend) *sigsuspend;
    __typeof__(ppoll) *ppoll;
    int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
    __typeof__(pselect) *pselect;
    __typeof__(epoll_pwait) *epoll_pwait;
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    void (*monstartup)(unsigned long, unsigned long), (*moncontrol)(int);
    int (*profil)(unsigned short *, size_t, size_t, unsigned);
    __typeof__(dlopen) *dlopen;
    __typeof__(dlclose) *dlclose;
    __typeof__(_exit) *exit_now;
    __typeof__(setuid) *setuid;
    int (*setreuid)(uid_t, uid_t), (*setresuid)(uid_t, uid_t, uid_t);
    __typeof__(posix_spawn) *posix_spawn, *posix_spawnp;
    __typeof__(execve) *execve;
    __typeof__(execvpe) *execvpe;
    __typeof__(fexecve) *fexecve;
    int (*execveat)(int, const char *, char *const[], char *const[], int);
};

/*
 * Looks them up at first use: other libraries' constructors may call before ours has run. dlsym() is not for handlers, so
 * the agent's constructor calls this first.
 */
const struct sfb_real *sfb_real(void);

/*
 * The C library's syscall(), for syscall_entry_*.S. NULL: not known yet; each call then goes through
 * sfb_syscall_looked_at().
 */
extern long (*sfb_syscall_real)(long, ...);

#endif
