#include "remote/call_restart.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum timed {
    NEVER,       /* the kernel restarts it, or it has no time-out */
    IF_NOT_NULL, /* an argument points to a time-out */
    IF_POSITIVE, /* an argument is a time-out, negative: none */
    IF_SOCKET    /* its descriptor may be a socket with SO_RCVTIMEO or SO_SNDTIMEO */
};

/* Calls that are not here may have a time-out of their own. */
static const struct {
    long number;
    enum timed timed;
    unsigned argument;
} calls[] = {
    { SYS_restart_syscall, NEVER, 0 },
    { SYS_futex, NEVER, 0 },
    { SYS_nanosleep, NEVER, 0 },
    { SYS_clock_nanosleep, NEVER, 0 },
    { SYS_ppoll, NEVER, 0 },
    { SYS_pselect6, NEVER, 0 },
#ifdef SYS_poll
    { SYS_poll, NEVER, 0 },
    { SYS_select, NEVER, 0 },
    { SYS_pause, NEVER, 0 },
    { SYS_epoll_wait, IF_POSITIVE, 3 },
#endif
    { SYS_rt_sigsuspend, NEVER, 0 },
    { SYS_wait4, NEVER, 0 },
    { SYS_waitid, NEVER, 0 },
    { SYS_flock, NEVER, 0 },
    { SYS_fcntl, NEVER, 0 },
    { SYS_msgrcv, NEVER, 0 },
    { SYS_msgsnd, NEVER, 0 },
    { SYS_semop, NEVER, 0 },
    { SYS_semtimedop, IF_NOT_NULL, 3 },
    { SYS_rt_sigtimedwait, IF_NOT_NULL, 2 },
    { SYS_io_getevents, IF_NOT_NULL, 4 },
    { SYS_epoll_pwait, IF_POSITIVE, 3 },
#ifdef SYS_epoll_pwait2
    { SYS_epoll_pwait2, IF_NOT_NULL, 3 },
#endif
    { SYS_read, IF_SOCKET, 0 },
    { SYS_readv, IF_SOCKET, 0 },
    { SYS_write, IF_SOCKET, 0 },
    { SYS_writev, IF_SOCKET, 0 },
    { SYS_recvfrom, IF_SOCKET, 0 },
    { SYS_recvmsg, IF_SOCKET, 0 },
    { SYS_sendto, IF_SOCKET, 0 },
    { SYS_sendmsg, IF_SOCKET, 0 },
    { SYS_accept, IF_SOCKET, 0 },
    { SYS_accept4, IF_SOCKET, 0 },
    { SYS_connect, IF_SOCKET, 0 },
    { SYS_mq_timedsend, NEVER, 0 }, /* until a point in time */
    { SYS_mq_timedreceive, NEVER, 0 },
    { SYS_getrandom, NEVER, 0 },
    { SYS_pread64, NEVER, 0 },
    { SYS_openat, NEVER, 0 },
#ifdef SYS_open
    { SYS_open, NEVER, 0 },
#endif
};

/*
 * By a copy of its descriptor, which is closed at once.
 *
 * @return whether a socket has a time-out, or may have one
 */
static bool socket_has_timeout(pid_t pid, int descriptor)
{
    static const int options[] = { SO_RCVTIMEO, SO_SNDTIMEO };
    const int process = (int)syscall(SYS_pidfd_open, pid, 0);
    const int copy = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, descriptor, 0) : -1;
    bool timed = copy < 0;

    for (unsigned i = 0; copy >= 0 && i < sizeof options / sizeof *options; i++) {
        struct timeval timeout;
        socklen_t size = sizeof timeout;

        timed |= getsockopt(copy, SOL_SOCKET, options[i], &timeout, &size) != 0 ||
                 timeout.tv_sec != 0 || timeout.tv_usec != 0;
    }
    if (copy >= 0)
        close(copy);
    if (process >= 0)
        close(process);
    return timed;
}

static bool descriptor_has_timeout(pid_t pid, int descriptor)
{
    char path[64], target[32];
    ssize_t got;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, descriptor);
    got = readlink(path, target, sizeof target - 1);
    if (got >= 7 && memcmp(target, "socket:", 7) == 0)
        return socket_has_timeout(pid, descriptor);
    return got < 0;
}

static bool has_timeout(const struct remote_task_call *call, enum timed timed, unsigned argument,
                        pid_t pid)
{
    switch (timed) {
    case NEVER: return false;
    case IF_NOT_NULL: return call->argument[argument] != 0;
    case IF_POSITIVE: return (int32_t)call->argument[argument] >= 0;
    case IF_SOCKET: return descriptor_has_timeout(pid, (int)call->argument[argument]);
    }
    return true;
}

const char *remote_call_forbids_stop(const struct remote_task_call *call, pid_t pid)
{
    if (!call->in_call)
        return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == call->number)
            return has_timeout(call, calls[i].timed, calls[i].argument, pid)
                       ? "not stopped: its call has a time-out, which would begin anew"
                       : NULL;
    return "not stopped: its call may have a time-out, which would begin anew";
}
