#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static const uint8_t zeros[4096];

static bool write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, data, size);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static bool write_zeros(int fd, uint64_t count)
{
    while (count > 0) {
        size_t n = count < sizeof zeros ? (size_t)count : sizeof zeros;

        if (!write_all(fd, zeros, n))
            return false;
        count -= n;
    }
    return true;
}

/* @return false: errno says why */
static bool write_parts(int fd, bool holes, const struct output_part *parts, size_t count)
{
    uint64_t at = 0;

    for (size_t i = 0; i < count; i++) {
        bool good = holes ? lseek(fd, (off_t)parts[i].offset, SEEK_SET) >= 0
                          : write_zeros(fd, parts[i].offset - at);

        if (!good || !write_all(fd, parts[i].data, parts[i].size))
            return false;
        at = parts[i].offset + parts[i].size;
    }
    return true;
}

static bool failed(const char *path)
{
    tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno));
    return false;
}

static bool write_stream(int fd, const char *name, const struct output_part *parts, size_t count)
{
    return write_parts(fd, false, parts, count) || failed(name);
}

static bool write_device(const char *path, const struct output_part *parts, size_t count)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    bool good;

    if (fd < 0)
        return failed(path);
    good = write_stream(fd, path, parts, count);
    if (close(fd) != 0 && good)
        return failed(path);
    return good;
}

/* Writes what has a name of its own and gives it the right one; errno says why not. */
static bool write_renamed(int fd, const char *temporary, const char *path, unsigned mode,
                          const struct output_part *parts, size_t count)
{
    bool good = write_parts(fd, true, parts, count) && fchmod(fd, mode) == 0;

    if (close(fd) != 0)
        good = false;
    return good && rename(temporary, path) == 0;
}

static bool write_file(const char *path, unsigned mode, const struct output_part *parts,
                       size_t count)
{
    char *temporary;
    int fd, cause;

    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        errno = ENOMEM;
        return failed(path);
    }
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        free(temporary);
        return failed(path);
    }
    if (!write_renamed(fd, temporary, path, mode, parts, count)) {
        cause = errno;
        unlink(temporary);
        free(temporary);
        errno = cause;
        return failed(path);
    }
    free(temporary);
    return true;
}

bool output_write(const char *path, unsigned mode, const struct output_part *parts, size_t count)
{
    struct stat status;
    char *target;
    bool good;

    /* A limit on the size of files is told like a full disk, and leaves nothing behind. */
    signal(SIGXFSZ, SIG_IGN);
    if (strcmp(path, "-") == 0)
        return tool_flush() && write_stream(STDOUT_FILENO, "standard output", parts, count);
    if (stat(path, &status) != 0)
        return write_file(path, mode, parts, count);
    if (!S_ISREG(status.st_mode))
        return write_device(path, parts, count);
    /* A link keeps being one, and what it leads to is replaced. */
    target = realpath(path, NULL);
    if (!target)
        return failed(path);
    good = write_file(target, mode, parts, count);
    free(target);
    return good;
}
