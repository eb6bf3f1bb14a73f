#include "record/session.h"

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

enum { KEY_DIGITS = 32 };

struct address {
    unsigned long pid, fd;
    const char *key; /* KEY_DIGITS of them */
};

/* What a session has to be for an agent to write there. */
struct wanted {
    const char *key;
    uint32_t mode, ring_bytes;
};

/* "PID:FD:KEY" */
static bool parse(struct address *out, const char *text)
{
    char *end;

    out->pid = strtoul(text, &end, 10);
    if (end == text || *end != ':')
        return false;
    text = end + 1;
    out->fd = strtoul(text, &end, 10);
    if (end == text || *end != ':')
        return false;
    out->key = end + 1;
    return strspn(out->key, "0123456789abcdef") == KEY_DIGITS && out->key[KEY_DIGITS] == '\0';
}

static bool has_key(const uint8_t *key, const char *digits)
{
    char text[KEY_DIGITS + 1];

    for (size_t i = 0; i < KEY_DIGITS / 2; i++)
        snprintf(text + 2 * i, 3, "%02x", key[i]);
    return strcmp(text, digits) == 0;
}

/* What lies behind a number may be another program's by now: a number is used again. */
static bool is_session(const struct sfb_shared *shared, const struct wanted *wanted)
{
    return memcmp(shared->magic, SFB_SHARED_MAGIC, sizeof shared->magic) == 0 &&
           shared->version == SFB_SHARED_VERSION && has_key(shared->key, wanted->key) &&
           shared->mode == wanted->mode &&
           (shared->rate_hz > 0 || wanted->mode != SFB_SHARED_CPU) &&
           shared->ring_bytes == wanted->ring_bytes && !shared->ended;
}

static struct sfb_shared *map(int fd, const struct wanted *wanted)
{
    const size_t size = sfb_shared_size(wanted->ring_bytes);
    struct stat file;
    struct sfb_shared *shared;

    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size != (off_t)size)
        return NULL;
    shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        return NULL;
    madvise(shared, size, MADV_DONTDUMP); /* all of it would be in a core dump */
    if (is_session(shared, wanted))
        return shared;
    munmap(shared, size);
    return NULL;
}

/* Through the recorder's own table of descriptors. Refused, for one, to those that may not trace it. */
static int open_by_proc(const struct address *address)
{
    char path[64];
    struct stat file;

    snprintf(path, sizeof path, "/proc/%lu/fd/%lu", address->pid, address->fd);
    /* Another process may have that number by now: open() could wait at what it has there, a FIFO or a device. */
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

static int receive(int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec bytes = { &byte, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof control };
    struct cmsghdr *head;
    int received = -1;

    if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof received))
        memcpy(&received, CMSG_DATA(head), sizeof received);
    return received;
}

/* The recorder hands it out: works without /proc, and where the process has another user. */
static int open_by_socket(const struct address *address)
{
    static const struct timeval second = { .tv_sec = 1 };
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const size_t prefix = sizeof SFB_SHARED_SOCKET - 1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), received = -1;

    if (fd < 0)
        return -1;
    /* An abstract name begins with '\0', and has no end but its size. */
    memcpy(name.sun_path + 1, SFB_SHARED_SOCKET, prefix);
    memcpy(name.sun_path + 1 + prefix, address->key, KEY_DIGITS);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second) == 0 &&
        connect(fd, (const struct sockaddr *)&name,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + prefix + KEY_DIGITS)) == 0)
        received = receive(fd);
    close(fd);
    return received;
}

struct sfb_shared *sfb_session_map(const char *text, enum sfb_shared_mode mode)
{
    static int (*const ways[])(const struct address *) = { open_by_proc, open_by_socket };
    struct sfb_shared *shared = NULL;
    struct address address;
    struct wanted wanted;

    if (!text || !parse(&address, text))
        return NULL;
    wanted = (struct wanted){ address.key, mode, sfb_shared_ring_bytes(mode) };
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !shared; i++) {
        int fd = ways[i](&address);

        if (fd < 0)
            continue;
        shared = map(fd, &wanted);
        close(fd);
    }
    return shared;
}
