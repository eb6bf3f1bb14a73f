#include "profiler/collector/outside/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXT = 4096, FSCONFIG_CREATE = 6 };

/* <sys/mount.h> has no names for these calls before glibc 2.36. @return descriptor of a tracefs that has no path; -1 */
static int mount_unseen(void)
{
#if defined SYS_fsopen && defined SYS_fsconfig && defined SYS_fsmount
    const int context = (int)syscall(SYS_fsopen, "tracefs", 1 /* FSOPEN_CLOEXEC */);
    int mounted = -1, error;

    if (context < 0)
        return -1;
    if (syscall(SYS_fsconfig, context, FSCONFIG_CREATE, NULL, NULL, 0) == 0)
        mounted = (int)syscall(SYS_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, 0);
    error = errno;
    close(context);
    errno = error;
    return mounted;
#else
    errno = ENOSYS;
    return -1;
#endif
}

int tracefs_open(void)
{
    static const char *const paths[] = { "/sys/kernel/tracing/events",
                                         "/sys/kernel/debug/tracing/events" };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const int fd = open(paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0)
            return fd;
    }
    {
        const int root = mount_unseen();
        const int events =
            root >= 0 ? openat(root, "events", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        const int error = errno;

        if (root >= 0)
            close(root);
        errno = error;
        return events;
    }
}

/* @return false: errno says why */
static bool read_text(char *out, size_t room, int events, const char *event, const char *file)
{
    char path[PATH_MAX];
    ssize_t size;
    int fd;

    snprintf(path, sizeof path, "%s/%s", event, file);
    fd = openat(events, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, out, room - 1);
    close(fd);
    out[size > 0 ? size : 0] = '\0';
    return size > 0;
}

bool tracepoint_field(struct tracepoint *out, const char *format, const char *field)
{
    char wanted[64];
    const char *at, *offset, *size, *end;

    snprintf(wanted, sizeof wanted, " %s;", field);
    at = strstr(format, wanted);
    if (!at)
        return false;
    end = strchr(at, '\n');
    offset = strstr(at, "offset:");
    size = strstr(at, "size:");
    if (!offset || !size || (end && (offset > end || size > end)))
        return false;
    out->offset = (uint32_t)strtoul(offset + strlen("offset:"), NULL, 10);
    out->size = (uint32_t)strtoul(size + strlen("size:"), NULL, 10);
    return out->offset >= TRACEPOINT_HEAD && out->offset < TEXT &&
           (out->size == sizeof(uint32_t) || out->size == sizeof(uint64_t));
}

bool tracepoint_find(struct tracepoint *out, int tracefs, const char *event, const char *field)
{
    char text[TEXT];
    unsigned long number = 0;

    *out = (struct tracepoint){ .number = 0 };
    if (read_text(text, sizeof text, tracefs, event, "id"))
        number = strtoul(text, NULL, 10);
    if (number == 0 || number > UINT16_MAX ||
        !read_text(text, sizeof text, tracefs, event, "format") ||
        !tracepoint_field(out, text, field))
        return false;
    out->number = (uint16_t)number;
    return true;
}

bool tracepoint_read(uint64_t *out, const struct tracepoint *t, const uint8_t *raw, size_t size)
{
    uint32_t half;
    uint16_t number;

    if (t->number == 0 || size < (size_t)t->offset + t->size)
        return false;
    memcpy(&number, raw + TRACEPOINT_NUMBER, sizeof number);
    if (number != t->number)
        return false;
    if (t->size == sizeof *out) {
        memcpy(out, raw + t->offset, sizeof *out);
        return true;
    }
    memcpy(&half, raw + t->offset, sizeof half);
    *out = half;
    return true;
}
