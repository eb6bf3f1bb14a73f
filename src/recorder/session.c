#include "recorder/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "recorder/counter.h"
#include "recorder/tasks.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

enum { KEY_DIGITS = 32 };

static int make_memory(void)
{
    static const char name[] = "sfb-record";
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    /* Kernels from 6.3 on warn without it, and may refuse. */
    int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

    return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, flags);
}

/* A limit on the size of files is one of this file's, too, which is on no disk. What can be raised, is, meanwhile. */
static bool resize(int fd, size_t size)
{
    struct rlimit before = { RLIM_INFINITY, RLIM_INFINITY }, most;
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    bool good;
    int cause;

    getrlimit(RLIMIT_FSIZE, &before);
    most = before;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_FSIZE, &most);
    good = ftruncate(fd, (off_t)size) == 0;
    cause = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    errno = cause;
    return good;
}

static void write_key(char *out, const uint8_t *key)
{
    for (size_t i = 0; i < KEY_DIGITS / 2; i++)
        snprintf(out + 2 * i, 3, "%02x", key[i]);
}

/* An abstract name: it has no file, and is gone with the socket. */
static int listen_at(const char *key)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const size_t prefix = sizeof SFB_SHARED_SOCKET - 1;
    const socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + prefix + KEY_DIGITS);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    memcpy(name.sun_path + 1, SFB_SHARED_SOCKET, prefix);
    memcpy(name.sun_path + 1 + prefix, key, KEY_DIGITS);
    if (bind(fd, (struct sockaddr *)&name, size) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Before the first agent comes. */
static void fill(struct sfb_shared *shared, const struct sfb_recorder_session_options *options,
                 uint32_t ring_bytes)
{
    memcpy(shared->magic, SFB_SHARED_MAGIC, sizeof shared->magic);
    shared->version = SFB_SHARED_VERSION;
    shared->recorder_pid = (uint32_t)getpid();
    shared->rate_hz = options->rate_hz;
    shared->engines = options->engines;
    shared->flags = options->flags;
    shared->signal = SIGPROF;
    shared->mode = options->mode;
    shared->ring_bytes = ring_bytes;
    shared->heap_rate = options->heap_rate;
    shared->heap_flags = options->heap_flags;
    shared->counter = sfb_counter_may_be_used();
    shared->counter_start = sfb_counter_read(shared->counter);
}

const char *sfb_recorder_session_open(struct sfb_recorder_session *out,
                                      const struct sfb_recorder_session_options *options)
{
    const uint32_t ring_bytes = sfb_shared_ring_bytes((enum sfb_shared_mode)options->mode);
    struct sfb_shared *shared;
    char key[KEY_DIGITS + 1];

    *out = (struct sfb_recorder_session){ .size = sfb_shared_size(ring_bytes),
                                          .fd = -1,
                                          .listener = -1 };
    out->fd = make_memory();
    if (out->fd < 0)
        return "memfd_create";
    if (!resize(out->fd, out->size))
        return errno == EFBIG ? "the memory that is shared is larger than files may be (ulimit -f)"
                              : "ftruncate";
    if (fcntl(out->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return "F_ADD_SEALS";
    shared = mmap(NULL, out->size, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
    if (shared == MAP_FAILED)
        return "mmap";
    out->shared = shared;
    madvise(shared, out->size, MADV_DONTDUMP); /* a dump would make memory of all of it */
    if (getrandom(shared->key, sizeof shared->key, 0) != (ssize_t)sizeof shared->key)
        return "getrandom";
    fill(shared, options, ring_bytes);
    write_key(key, shared->key);
    out->listener = listen_at(key);
    if (out->listener < 0)
        return "a socket";
    snprintf(out->text, sizeof out->text, "%ld:%d:%s", (long)getpid(), out->fd, key);
    return NULL;
}

/* --- handing it out ------------------------------------------------------------------------------ */

static bool may_have_it(int client)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    return peer.uid == geteuid() || sfb_recorder_task_is_ours(peer.pid);
}

static void send_descriptor(int client, int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { .room = { 0 } };
    char byte = 0;
    struct iovec bytes = { &byte, 1 };
    const struct msghdr message = { .msg_iov = &bytes,
                                    .msg_iovlen = 1,
                                    .msg_control = &control,
                                    .msg_controllen = sizeof control };

    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    sendmsg(client, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *serve(void *argument)
{
    static const struct timespec pause = { .tv_nsec = 10000000 };
    const struct sfb_recorder_session *session = argument;

    for (;;) {
        socklen_t none = 0;
        const int client = accept4(session->listener, NULL, &none, SOCK_CLOEXEC);

        if (client < 0 && errno == EINVAL)
            return NULL; /* shut down */
        if (client < 0) {
            nanosleep(&pause, NULL); /* no descriptor, no memory: others give theirs back */
            continue;
        }
        if (may_have_it(client))
            send_descriptor(client, session->fd);
        close(client);
    }
}

const char *sfb_recorder_session_serve(struct sfb_recorder_session *session)
{
    sigset_t all, before;
    int cause;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    cause = pthread_create(&session->server, NULL, serve, session);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    session->serving = cause == 0;
    errno = cause;
    return cause == 0 ? NULL : "a thread";
}

uint32_t sfb_recorder_session_seen(const struct sfb_recorder_session *session)
{
    return __atomic_load_n(&session->shared->wake, __ATOMIC_ACQUIRE);
}

bool sfb_recorder_session_wait(const struct sfb_recorder_session *session, uint32_t seen,
                               uint64_t ns)
{
    const struct timespec limit = { .tv_sec = (time_t)(ns / 1000000000),
                                    .tv_nsec = (long)(ns % 1000000000) };

    return syscall(SYS_futex, &session->shared->wake, FUTEX_WAIT, seen, &limit, NULL, 0) != 0 &&
           errno == EINTR;
}

void sfb_recorder_session_close(struct sfb_recorder_session *session)
{
    if (session->serving) {
        shutdown(session->listener, SHUT_RDWR);
        pthread_join(session->server, NULL);
    }
    if (session->listener >= 0)
        close(session->listener);
    if (session->shared)
        munmap(session->shared, session->size);
    if (session->fd >= 0)
        close(session->fd);
}
