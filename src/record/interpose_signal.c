/* sigaction(), signal() and the masks: SIGPROF is the agent's, and the program does not see that. */
#include <errno.h>
#include <signal.h>

#include "record/interpose.h"
#include "record/prof_signal.h"
#include "record/real.h"

SFB_INTERPOSED int sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    if (!sfb_prof_signal_is_ours(signo))
        return sfb_real()->sigaction(signo, action, old);
    sfb_prof_signal_action(action, old);
    return 0;
}

static sighandler_t set_handler(int signo, sighandler_t handler, int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, signo);
    sfb_prof_signal_action(&action, &old);
    return old.sa_handler;
}

SFB_INTERPOSED sighandler_t signal(int signo, sighandler_t handler)
{
    if (!sfb_prof_signal_is_ours(signo))
        return sfb_real()->signal(signo, handler);
    return set_handler(signo, handler, SA_RESTART);
}

extern __typeof__(signal) bsd_signal, __sysv_signal, sysv_signal;

SFB_INTERPOSED sighandler_t bsd_signal(int signo, sighandler_t handler)
{
    return signal(signo, handler);
}

SFB_INTERPOSED sighandler_t __sysv_signal(int signo, sighandler_t handler)
{
    if (!sfb_prof_signal_is_ours(signo))
        return sfb_real()->sysv_signal(signo, handler);
    return set_handler(signo, handler, (int)SA_RESETHAND | SA_NODEFER);
}

SFB_INTERPOSED sighandler_t sysv_signal(int signo, sighandler_t handler)
{
    return __sysv_signal(signo, handler);
}

SFB_INTERPOSED int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    if (!sfb_prof_signal_is_ours(SIGPROF))
        return sfb_real()->sigprocmask(how, set, old);
    return sfb_prof_signal_mask(how, set, old, sfb_real()->sigprocmask);
}

SFB_INTERPOSED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    if (!sfb_prof_signal_is_ours(SIGPROF))
        return sfb_real()->pthread_sigmask(how, set, old);
    return sfb_prof_signal_mask(how, set, old, sfb_real()->pthread_sigmask);
}
