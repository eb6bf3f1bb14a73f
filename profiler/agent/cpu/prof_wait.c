#include "profiler/agent/cpu/prof_wait.h"

#include <errno.h>
#include <stddef.h>

#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/real.h"

static void change(int how)
{
    sigset_t prof;

    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    sfb_real()->pthread_sigmask(how, &prof, NULL);
}

/* A pending signal is sent again, but must not arrive before the call: the kernel blocks it until then. */
void sfb_prof_wait_begin(struct sfb_prof_wait *w, const sigset_t *mask)
{
    struct sfb_thread_local *local = &sfb_thread_local;
    bool blocks = mask && sigismember(mask, SIGPROF) == 1;
    int saved_errno = errno;

    w->ours = mask && sfb_prof_signal_is_ours(SIGPROF);
    w->blocked = local->blocks;
    w->held = w->ours && w->blocked && !blocks;
    if (w->held)
        change(SIG_BLOCK);
    if (w->ours)
        local->blocks = blocks;
    if (w->held)
        sfb_prof_signal_raise_what_waits();
    errno = saved_errno;
}

void sfb_prof_wait_end(const struct sfb_prof_wait *w)
{
    int saved_errno = errno;

    if (w->ours)
        sfb_thread_local.blocks = w->blocked;
    if (w->held)
        change(SIG_UNBLOCK);
    if (w->ours && !w->blocked)
        sfb_prof_signal_raise_what_waits();
    errno = saved_errno;
}
