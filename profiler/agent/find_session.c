#include "profiler/agent/find_session.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/space_map.h"
#include "util/hex_text.h"

static bool
    refused; /* the session was found but does not fit: the other ways lead to the same one */

enum { KEY_DIGITS = 32, MEMORY = 0, BEACON = 1, FILES = 2 };

struct address {
    unsigned long long pid, fd[FILES], device, inode;
    const char *key; /* KEY_DIGITS characters */
    const char *path;
};

/* Requirements on a session. */
struct wanted {
    const struct address *address;
    uint32_t mode, ring_bytes;
};

/* Parses a number and a ':'. @return the text after them; NULL: not a number */
static const char *parse_number(unsigned long long *out, const char *text, int base)
{
    char *end;

    *out = strtoull(text, &end, base);
    return end != text && *end == ':' ? end + 1 : NULL;
}

/* "PID:MEMORY:BEACON:DEVICE:INODE:KEY:PATH" */
static bool parse(struct address *out, const char *text)
{
    unsigned long long *const numbers[] = { &out->pid, &out->fd[MEMORY], &out->fd[BEACON],
                                            &out->device, &out->inode };
    enum { DECIMAL = 3 };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && text; i++)
        text = parse_number(numbers[i], text, i < DECIMAL ? 10 : 16);
    if (!text || strspn(text, "0123456789abcdef") != KEY_DIGITS || text[KEY_DIGITS] != ':')
        return false;
    out->key = text;
    out->path = text + KEY_DIGITS + 1;
    return true;
}

static bool has_key(const uint8_t *key, const char *digits)
{
    char text[KEY_DIGITS + 1];

    sfb_hex_text(text, key, KEY_DIGITS / 2);
    return memcmp(text, digits, KEY_DIGITS) == 0;
}

/* --- judging a session --------------------------------------------------------------------------- */

/*
 * A memory file of this size that cannot shrink: access to a page cut off under a mapping is SIGBUS. Other kinds of files
 * do not have these seals.
 */
static bool is_sealed(int fd, size_t size, struct stat *file)
{
    const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && (seals & needed) == needed && fstat(fd, file) == 0 &&
           S_ISREG(file->st_mode) && file->st_size == (off_t)size;
}

/*
 * The inode comes from the recorder, through the environment. Every recorded process knows the key. After the recorder's
 * death it could answer in the recorder's place, at its socket or under its pid, but only with another file. The
 * recorder's own beacon is then no longer lit.
 */
static bool is_beacon(const struct sfb_shared_beacon *beacon, const struct address *address)
{
    return memcmp(beacon->magic, SFB_SHARED_MAGIC, sizeof beacon->magic) == 0 &&
           beacon->version == SFB_SHARED_VERSION && has_key(beacon->key, address->key) &&
           sfb_shared_beacon_is_lit(beacon);
}

static const struct sfb_shared_beacon *map_beacon(int fd, const struct address *address)
{
    struct sfb_shared_beacon *beacon;
    struct stat file;

    if (!is_sealed(fd, SFB_SHARED_PAGE, &file) || file.st_ino != address->inode ||
        file.st_dev != address->device)
        return NULL;
    beacon = mmap(NULL, SFB_SHARED_PAGE, PROT_READ, MAP_SHARED, fd, 0);
    if (beacon == MAP_FAILED)
        return NULL;
    madvise(beacon, SFB_SHARED_PAGE, MADV_DONTDUMP); /* else it would be in a core dump */
    if (is_beacon(beacon, address))
        return beacon;
    munmap(beacon, SFB_SHARED_PAGE);
    return NULL;
}

static bool is_session(const struct sfb_shared *shared, const struct wanted *wanted)
{
    return memcmp(shared->magic, SFB_SHARED_MAGIC, sizeof shared->magic) == 0 &&
           shared->version == SFB_SHARED_VERSION && has_key(shared->key, wanted->address->key) &&
           shared->mode == wanted->mode &&
           (shared->rate_hz > 0 || wanted->mode != SFB_SHARED_CPU) &&
           shared->ring_bytes == wanted->ring_bytes && !shared->ended;
}

static struct sfb_shared *map_memory(int fd, const struct sfb_shared_beacon *beacon,
                                     const struct wanted *wanted)
{
    struct sfb_shared *shared = NULL, session;
    struct stat file;

    if (!is_sealed(fd, sfb_shared_size(wanted->ring_bytes), &file) ||
        file.st_ino != beacon->memory_inode || file.st_dev != wanted->address->device ||
        pread(fd, &session, sizeof session, 0) != (ssize_t)sizeof session)
        return NULL;
    if (is_session(&session, wanted)) {
        shared = sfb_space_map(fd, &session, wanted->ring_bytes);
        refused = !shared;
    }
    return shared;
}

static struct sfb_shared *take(const int fd[FILES], const struct wanted *wanted)
{
    const struct sfb_shared_beacon *beacon = map_beacon(fd[BEACON], wanted->address);
    struct sfb_shared *shared = beacon ? map_memory(fd[MEMORY], beacon, wanted) : NULL;

    if (shared)
        sfb_agent.beacon = beacon;
    else if (beacon)
        munmap((void *)(uintptr_t)beacon, SFB_SHARED_PAGE);
    return shared;
}

/* --- ways to a session --------------------------------------------------------------------------- */

static int open_file(unsigned long long pid, unsigned long long fd, int flags)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%llu/fd/%llu", pid, fd);
    return open(path, flags | O_CLOEXEC | O_NONBLOCK);
}

/* The pid may belong to another process by now. open() could block on that process's file, a FIFO or a device. */
static bool has_beacon(const struct address *address)
{
    char path[64];
    struct stat file;

    snprintf(path, sizeof path, "/proc/%llu/fd/%llu", address->pid, address->fd[BEACON]);
    return stat(path, &file) == 0 && file.st_ino == address->inode &&
           file.st_dev == address->device;
}

/* Through the recorder's /proc/PID/fd. Refused, for example, to processes that may not trace the recorder. */
static void open_by_proc(const struct address *address, int fd[FILES])
{
    if (!has_beacon(address))
        return;
    fd[BEACON] = open_file(address->pid, address->fd[BEACON], O_RDONLY);
    fd[MEMORY] = fd[BEACON] < 0 ? -1 : open_file(address->pid, address->fd[MEMORY], O_RDWR);
}

/* A single descriptor is received too, and closed: else it would stay open in the program. */
static void receive(int socket, int fd[FILES])
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(FILES * sizeof(int))];
    } control;
    char byte;
    struct iovec bytes = { &byte, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof control };
    struct cmsghdr *head;

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return;
    head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return;
    if (head->cmsg_len == CMSG_LEN(FILES * sizeof *fd))
        memcpy(fd, CMSG_DATA(head), FILES * sizeof *fd);
    else if (head->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
}

/*
 * The listener has the recorder's pid, or 0: it is in another PID namespace. No other process is waited for. (A session
 * from it would be rejected.)
 */
static bool may_be_recorder(int socket, const struct address *address)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.pid == 0 || (unsigned long long)peer.pid == address->pid);
}

/* Asks the recorder to send the descriptors: works without /proc, and for processes of another user. */
static void ask_at(const struct address *address, const struct sockaddr_un *name, size_t path_size,
                   int fd[FILES])
{
    static const struct timeval second = { .tv_sec = 1 };
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_size);
    int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (to < 0)
        return;
    if (setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second) == 0 &&
        setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second) == 0 &&
        connect(to, (const struct sockaddr *)name, size) == 0 && may_be_recorder(to, address))
        receive(to, fd);
    close(to);
}

static void open_by_name(const struct address *address, int fd[FILES])
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const size_t prefix = sizeof SFB_SHARED_SOCKET - 1;

    /* An abstract name begins with '\0'; only its size ends it. */
    memcpy(name.sun_path + 1, SFB_SHARED_SOCKET, prefix);
    memcpy(name.sun_path + 1 + prefix, address->key, KEY_DIGITS);
    ask_at(address, &name, 1 + prefix + KEY_DIGITS, fd);
}

static void open_by_path(const struct address *address, int fd[FILES])
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const size_t size = strlen(address->path) + 1;

    if (size == 1 || size > sizeof name.sun_path)
        return;
    memcpy(name.sun_path, address->path, size);
    ask_at(address, &name, size, fd);
}

struct sfb_shared *sfb_session_map(const char *text, enum sfb_shared_mode mode)
{
    static void (*const ways[])(const struct address *, int *) = { open_by_proc, open_by_name,
                                                                   open_by_path };
    struct sfb_shared *shared = NULL;
    struct address address;
    struct wanted wanted;

    if (!text || !parse(&address, text))
        return NULL;
    wanted = (struct wanted){ &address, mode, sfb_shared_ring_bytes(mode) };
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !shared && !refused; i++) {
        int fd[FILES] = { -1, -1 };

        ways[i](&address, fd);
        if (fd[MEMORY] >= 0 && fd[BEACON] >= 0)
            shared = take(fd, &wanted);
        for (int k = 0; k < FILES; k++)
            if (fd[k] >= 0)
                close(fd[k]);
    }
    return shared;
}
