/* Calls that wait with another signal mask: the program's own signals end them, as without the agent. */
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "profiler/agent/cpu/prof_wait.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

/* Runs a call with its mask, and returns its result. */
#define WAIT(call, mask)                                                                           \
    do {                                                                                           \
        struct sfb_prof_wait wait;                                                                 \
        int result;                                                                                \
                                                                                                   \
        sfb_prof_wait_begin(&wait, mask);                                                          \
        result = (call);                                                                           \
        sfb_prof_wait_end(&wait);                                                                  \
        return result;                                                                             \
    } while (0)

SFB_INTERPOSED int sigsuspend(const sigset_t *set)
{
    WAIT(sfb_real()->sigsuspend(set), set);
}

SFB_INTERPOSED int ppoll(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout,
                         const sigset_t *ss)
{
    WAIT(sfb_real()->ppoll(fds, nfds, timeout, ss), ss);
}

/* The name of ppoll() under _FORTIFY_SOURCE. */
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's name
int __ppoll_chk(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout, const sigset_t *ss,
                size_t size);

SFB_INTERPOSED int __ppoll_chk(struct pollfd *fds, nfds_t nfds, const struct timespec *timeout,
                               const sigset_t *ss, size_t size)
{
    WAIT(sfb_real()->ppoll_chk(fds, nfds, timeout, ss, size), ss);
}
// NOLINTEND(bugprone-reserved-identifier)

SFB_INTERPOSED int pselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
                           const struct timespec *timeout, const sigset_t *sigmask)
{
    WAIT(sfb_real()->pselect(nfds, readfds, writefds, exceptfds, timeout, sigmask), sigmask);
}

SFB_INTERPOSED int epoll_pwait(int epfd, struct epoll_event *events, int maxevents, int timeout,
                               const sigset_t *ss)
{
    WAIT(sfb_real()->epoll_pwait(epfd, events, maxevents, timeout, ss), ss);
}

/* In newer C libraries only; programs for older ones do not call it. */
int epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
                 const struct timespec *timeout, const sigset_t *ss);

SFB_INTERPOSED int epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
                                const struct timespec *timeout, const sigset_t *ss)
{
    WAIT(sfb_real()->epoll_pwait2(epfd, events, maxevents, timeout, ss), ss);
}
