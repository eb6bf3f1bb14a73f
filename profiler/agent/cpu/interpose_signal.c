/* sigaction(), signal() and the signal masks: SIGPROF is the agent's, unseen by the program. */
#include <errno.h>
#include <signal.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

SFB_INTERPOSED int sigaction(int sig, const struct sigaction *act, struct sigaction *oact)
{
    if (!sfb_prof_signal_is_ours(sig)) {
        if (act && sigismember(&act->sa_mask, SIGPROF) == 1)
            __atomic_store_n(&sfb_agent.handlers_block, 1, __ATOMIC_RELAXED);
        return sfb_real()->sigaction(sig, act, oact);
    }
    sfb_prof_signal_action(act, oact);
    return 0;
}

static sighandler_t set_handler(int sig, sighandler_t handler, int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, sig);
    sfb_prof_signal_action(&action, &old);
    return old.sa_handler;
}

SFB_INTERPOSED sighandler_t signal(int sig, sighandler_t handler)
{
    if (!sfb_prof_signal_is_ours(sig))
        return sfb_real()->signal(sig, handler);
    return set_handler(sig, handler, sfb_prof_signal_restart_flag());
}

extern __typeof__(signal) bsd_signal, __sysv_signal, sysv_signal;

SFB_INTERPOSED sighandler_t bsd_signal(int sig, sighandler_t handler)
{
    return signal(sig, handler);
}

SFB_INTERPOSED sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
    if (!sfb_prof_signal_is_ours(sig))
        return sfb_real()->sysv_signal(sig, handler);
    return set_handler(sig, handler, (int)SA_RESETHAND | SA_NODEFER);
}

SFB_INTERPOSED sighandler_t sysv_signal(int sig, sighandler_t handler)
{
    return __sysv_signal(sig, handler);
}

SFB_INTERPOSED int sigprocmask(int how, const sigset_t *set, sigset_t *oset)
{
    if (!sfb_prof_signal_is_ours(SIGPROF))
        return sfb_real()->sigprocmask(how, set, oset);
    return sfb_prof_signal_mask(how, set, oset, sfb_real()->sigprocmask);
}

SFB_INTERPOSED int pthread_sigmask(int how, const sigset_t *newmask, sigset_t *oldmask)
{
    if (!sfb_prof_signal_is_ours(SIGPROF))
        return sfb_real()->pthread_sigmask(how, newmask, oldmask);
    return sfb_prof_signal_mask(how, newmask, oldmask, sfb_real()->pthread_sigmask);
}
