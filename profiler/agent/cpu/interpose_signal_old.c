/* Signal functions of System V and BSD, by sigaction() and the masks: interpose_signal.c. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

SFB_INTERPOSED sighandler_t ssignal(int sig, sighandler_t handler)
{
    return signal(sig, handler);
}

static int mask_one(int how, int sig, sigset_t *old)
{
    sigset_t one;

    sigemptyset(&one);
    return sigaddset(&one, sig) == 0 ? sigprocmask(how, &one, old) : -1;
}

SFB_INTERPOSED int sighold(int sig)
{
    return mask_one(SIG_BLOCK, sig, NULL);
}

SFB_INTERPOSED int sigrelse(int sig)
{
    return mask_one(SIG_UNBLOCK, sig, NULL);
}

SFB_INTERPOSED int sigignore(int sig)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };

    return sigaction(sig, &ignore, NULL);
}

/* Sets the action before the mask: a pending signal reaches the new handler. */
SFB_INTERPOSED sighandler_t sigset(int sig, sighandler_t disp)
{
    struct sigaction action = { .sa_handler = disp }, old;
    bool holds = disp == SIG_HOLD;
    sigset_t before;

    if (disp == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (sigaction(sig, holds ? NULL : &action, &old) != 0 ||
        mask_one(holds ? SIG_BLOCK : SIG_UNBLOCK, sig, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, sig) == 1 ? SIG_HOLD : old.sa_handler;
}

SFB_INTERPOSED int siginterrupt(int sig, int interrupt)
{
    if (!sfb_prof_signal_is_ours(sig))
        return sfb_real()->siginterrupt(sig, interrupt);
    sfb_prof_signal_interrupt(interrupt != 0);
    return 0;
}

/* The first 32 signals, as bits. */
static sigset_t set_of(int mask)
{
    unsigned long word = (unsigned)mask;
    sigset_t set;

    sigemptyset(&set);
    memcpy(&set, &word, sizeof word);
    return set;
}

static int change_mask(int how, int mask)
{
    sigset_t set = set_of(mask), old;
    unsigned long word;

    if (sigprocmask(how, &set, &old) != 0)
        return -1;
    memcpy(&word, &old, sizeof word);
    return (int)word;
}

SFB_INTERPOSED int sigblock(int mask)
{
    return change_mask(SIG_BLOCK, mask);
}

SFB_INTERPOSED int sigsetmask(int mask)
{
    return change_mask(SIG_SETMASK, mask);
}

int siggetmask(void);

SFB_INTERPOSED int siggetmask(void)
{
    return sigblock(0);
}
