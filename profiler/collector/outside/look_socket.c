/*
 * The descriptor is copied for a moment (pidfd_getfd(2), with the rights of ptrace), and the kernel is asked: one answer for
 * any family and network namespace, whatever the number of connections. If the process closes its descriptor meanwhile,
 * the socket is closed some microseconds later.
 */
#include "profiler/collector/outside/look_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
    struct sockaddr_storage room;
};

static int copy_descriptor(pid_t pid, int descriptor)
{
#if defined SYS_pidfd_open && defined SYS_pidfd_getfd
    const int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int out;

    if (process < 0)
        return -1;
    out = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
    close(process);
    return out;
#else
    (void)pid, (void)descriptor;
    return -1;
#endif
}

static int option_of(int fd, int option)
{
    int value = -1;
    socklen_t size = sizeof value;

    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

static const char *protocol_of(int fd)
{
    const int type = option_of(fd, SO_TYPE);

    switch (option_of(fd, SO_DOMAIN)) {
    case AF_UNIX: return "unix";
    case AF_NETLINK: return "netlink";
    case AF_INET:
    case AF_INET6: return type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "ip";
    default: return "socket";
    }
}

/* @return false: it has no address of its own */
static bool print_address(char *out, size_t room, const union address *a, socklen_t size)
{
    const size_t path_at = offsetof(struct sockaddr_un, sun_path);
    char text[INET6_ADDRSTRLEN];

    switch (a->any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &a->v4.sin_addr, text, sizeof text);
        snprintf(out, room, "%s:%u", text, (unsigned)ntohs(a->v4.sin_port));
        return true;
    case AF_INET6:
        inet_ntop(AF_INET6, &a->v6.sin6_addr, text, sizeof text);
        snprintf(out, room, "[%s]:%u", text, (unsigned)ntohs(a->v6.sin6_port));
        return true;
    case AF_UNIX:
        if (size <= path_at)
            return false;
        if (a->local.sun_path[0]) /* a path may fill all of its room */
            snprintf(out, room, "%.*s", (int)(size - path_at), a->local.sun_path);
        else
            snprintf(out, room, "@%.*s", (int)(size - path_at) - 1, a->local.sun_path + 1);
        return true;
    default: return false;
    }
}

/* Of a pair of sockets, and of a server's side, which have no address: the process at the other end, when it was made. */
static void print_peer_process(char *out, size_t room, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (option_of(fd, SO_DOMAIN) == AF_UNIX &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
        snprintf(out, room, "of process %d", (int)peer.pid);
    else
        snprintf(out, room, "connected");
}

static void name_of(char *out, size_t room, int fd)
{
    union address a = { .room = { 0 } };
    socklen_t size = sizeof a;
    const int used = snprintf(out, room, "%s ", protocol_of(fd));
    char *const to = out + used;
    const size_t left = room - (size_t)used;

    if (getpeername(fd, &a.any, &size) == 0) {
        if (!print_address(to, left, &a, size))
            print_peer_process(to, left, fd);
        return;
    }
    memset(&a, 0, sizeof a);
    size = sizeof a;
    if (option_of(fd, SO_ACCEPTCONN) == 1) {
        snprintf(to, left, "listening ");
        if (getsockname(fd, &a.any, &size) == 0)
            print_address(to + strlen(to), left - strlen(to), &a, size);
        return;
    }
    snprintf(to, left, "not connected");
}

bool look_socket_name(char *out, size_t room, pid_t pid, int descriptor, uint64_t inode)
{
    const int fd = room > 32 ? copy_descriptor(pid, descriptor) : -1;
    struct stat s;
    bool good;

    if (fd < 0)
        return false;
    good = fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode) && s.st_ino == inode;
    if (good)
        name_of(out, room, fd);
    close(fd);
    return good;
}
