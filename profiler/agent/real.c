#include "profiler/agent/real.h"

#include <stdbool.h>
#include <string.h>

long (*sfb_syscall_real)(long, ...);

static struct sfb_real real;
static bool found;

static void find(void *function, const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);

    memcpy(function, &address, sizeof address); /* ISO C: no cast to a function pointer */
}

/* Two threads may run this at once; both write the same values. */
static void find_all(void)
{
    find(&real.pthread_create, "pthread_create");
    find(&real.thrd_create, "thrd_create");
    find(&real.sigaction, "sigaction");
    find(&real.signal, "signal");
    find(&real.sysv_signal, "__sysv_signal");
    find(&real.sigprocmask, "sigprocmask");
    find(&real.siginterrupt, "siginterrupt");
    find(&real.pthread_sigmask, "pthread_sigmask");
    find(&real.prctl, "prctl");
    find(&real.syscall, "syscall");
    sfb_syscall_real = real.syscall;
    find(&real.sigaltstack, "sigaltstack");
    find(&real.setrlimit, "setrlimit");
    find(&real.setrlimit64, "setrlimit64");
    find(&real.prlimit, "prlimit");
    find(&real.prlimit64, "prlimit64");
    find(&real.sigsuspend, "sigsuspend");
    find(&real.ppoll, "ppoll");
    find(&real.ppoll_chk, "__ppoll_chk");
    find(&real.pselect, "pselect");
    find(&real.epoll_pwait, "epoll_pwait");
    find(&real.epoll_pwait2, "epoll_pwait2");
    find(&real.monstartup, "__monstartup");
    find(&real.moncontrol, "moncontrol");
    find(&real.profil, "profil");
    find(&real.dlopen, "dlopen");
    find(&real.dlclose, "dlclose");
    find(&real.exit_now, "_exit");
    find(&real.setuid, "setuid");
    find(&real.setreuid, "setreuid");
    find(&real.setresuid, "setresuid");
    find(&real.posix_spawn, "posix_spawn");
    find(&real.posix_spawnp, "posix_spawnp");
    find(&real.execve, "execve");
    find(&real.execvpe, "execvpe");
    find(&real.fexecve, "fexecve");
    find(&real.execveat, "execveat");
    __atomic_store_n(&found, true, __ATOMIC_RELEASE);
}

const struct sfb_real *sfb_real(void)
{
    if (!__atomic_load_n(&found, __ATOMIC_ACQUIRE))
        find_all();
    return &real;
}
