#include "profiler/collector/session/handout.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"
#include "profiler/protocol/shared.h"

#define FOLDER "sfb-record-"

static int listen_at(const struct sockaddr_un *name, size_t path_size)
{
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_size);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (const struct sockaddr *)name, size) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    close(fd);
    return -1;
}

/* An abstract name has no file, and ends with the socket. */
static int listen_abstract(const char *key)
{
    const size_t prefix = sizeof SFB_SHARED_SOCKET - 1;
    struct sockaddr_un name = { .sun_family = AF_UNIX };

    memcpy(name.sun_path + 1, SFB_SHARED_SOCKET, prefix);
    memcpy(name.sun_path + 1 + prefix, key, SFB_HANDOUT_KEY);
    return listen_at(&name, 1 + prefix + SFB_HANDOUT_KEY);
}

/* Removes the socket and its folder. */
static void remove_socket(char *path)
{
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

/* Removes sockets of killed recorders: these refuse connections. */
static void remove_dead(const char *folder)
{
    DIR *names = opendir(folder);

    for (struct dirent *entry; names && (entry = readdir(names)) != NULL;) {
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        const size_t size = sizeof name.sun_path;
        struct stat file;
        int fd, cause = 0;

        if (strncmp(entry->d_name, FOLDER, sizeof FOLDER - 1) != 0 ||
            snprintf(name.sun_path, size, "%s/%s/s", folder, entry->d_name) >= (int)size ||
            lstat(name.sun_path, &file) != 0 || !S_ISSOCK(file.st_mode) || file.st_uid != geteuid())
            continue;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&name, sizeof name) != 0)
            cause = errno;
        if (fd >= 0)
            close(fd);
        if (cause == ECONNREFUSED)
            remove_socket(name.sun_path);
    }
    if (names)
        closedir(names);
}

/*
 * In a folder that only we can write to: no other process can take its name while we live. A child may be of another
 * user: it may connect, and the server checks its identity.
 */
static int listen_in_file(char *path, size_t room)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const char *folder = getenv("TMPDIR");
    size_t size;
    int fd;

    if (!folder || *folder != '/' || strlen(folder) > room - sizeof "/" FOLDER "XXXXXX/s")
        folder = "/tmp";
    remove_dead(folder);
    size = (size_t)snprintf(path, room, "%s/" FOLDER "XXXXXX", folder);
    if (!mkdtemp(path)) {
        *path = '\0';
        return -1;
    }
    chmod(path, 0711);
    snprintf(path + size, room - size, "/s");
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    fd = listen_at(&name, size + sizeof "/s");
    if (fd >= 0 && chmod(path, 0666) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    remove_socket(path);
    *path = '\0';
    return -1;
}

bool sfb_handout_open(struct sfb_handout *h, const char *key)
{
    h->listener[0] = listen_abstract(key);
    if (h->listener[0] >= 0)
        h->listener[1] = listen_in_file(h->path, sizeof h->path);
    return h->listener[0] >= 0;
}

/* --- answers ------------------------------------------------------------------------------------- */

static bool may_have_it(int client)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    return peer.uid == geteuid() || sfb_recorder_task_is_ours(peer.pid);
}

static void send_descriptors(int client, const struct sfb_handout *h)
{
    const int sent[] = { h->memory, h->beacon };
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof sent)];
    } control = { .room = { 0 } };
    char byte = 0;
    struct iovec bytes = { &byte, 1 };
    const struct msghdr message = { .msg_iov = &bytes,
                                    .msg_iovlen = 1,
                                    .msg_control = &control,
                                    .msg_controllen = sizeof control };

    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof sent);
    memcpy(CMSG_DATA(&control.head), sent, sizeof sent);
    sendmsg(client, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(const struct sfb_handout *h, int listener)
{
    static const struct timespec pause = { .tv_nsec = 10000000 };
    const int client = accept4(listener, NULL, &(socklen_t){ 0 }, SOCK_CLOEXEC);

    if (client < 0) {
        if (errno != EAGAIN && errno != ECONNABORTED)
            nanosleep(&pause, NULL); /* no descriptor or memory: others may free some */
        return;
    }
    if (may_have_it(client))
        send_descriptors(client, h);
    close(client);
}

static void *serve(void *argument)
{
    const struct sfb_handout *h = argument;
    struct pollfd ways[SFB_HANDOUT_WAYS];

    for (size_t i = 0; i < SFB_HANDOUT_WAYS; i++)
        ways[i] = (struct pollfd){ .fd = h->listener[i], .events = POLLIN };
    for (;;) {
        if (poll(ways, SFB_HANDOUT_WAYS, -1) <= 0)
            continue;
        for (size_t i = 0; i < SFB_HANDOUT_WAYS; i++) {
            if (ways[i].revents & POLLHUP)
                return NULL; /* shut down */
            if (ways[i].revents != 0)
                answer(h, ways[i].fd);
        }
    }
}

const char *sfb_handout_serve(struct sfb_handout *h)
{
    sigset_t all, before;
    int cause;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    cause = pthread_create(&h->server, NULL, serve, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    h->serving = cause == 0;
    errno = cause;
    return cause == 0 ? NULL : "a thread";
}

void sfb_handout_close(struct sfb_handout *h)
{
    for (size_t i = 0; i < SFB_HANDOUT_WAYS; i++)
        if (h->listener[i] >= 0)
            shutdown(h->listener[i], SHUT_RDWR);
    if (h->serving)
        pthread_join(h->server, NULL);
    for (size_t i = 0; i < SFB_HANDOUT_WAYS; i++)
        if (h->listener[i] >= 0)
            close(h->listener[i]);
    if (h->path[0] != '\0')
        remove_socket(h->path);
}
