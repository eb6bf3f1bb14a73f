#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static bool guarded;

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR: return "a directory, not a regular file";
    case S_IFIFO: return "a FIFO, not a regular file";
    case S_IFCHR:
    case S_IFBLK: return "a device, not a regular file";
    case S_IFSOCK: return "a socket, not a regular file";
    default: return "not a regular file";
    }
}

/*
 * To open some devices is to use them, so that the kind is asked first; and asked again of what was
 * opened, which may be another file by then.
 */
int regular_open(const char *path, const char **cause)
{
    struct stat status;
    int fd, error;

    if (stat(path, &status) != 0) {
        error = errno;
        *cause = strerror(error);
        errno = error;
        return -1;
    }
    fd = S_ISREG(status.st_mode)
             ? openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
             : -1;
    if (fd < 0) {
        error = S_ISREG(status.st_mode) ? errno : EINVAL;
        *cause = S_ISREG(status.st_mode) ? strerror(error) : kind_of(status.st_mode);
        errno = error;
        return -1;
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    *cause = kind_of(status.st_mode);
    close(fd);
    errno = EINVAL;
    return -1;
}

void regular_guard_libraries(void)
{
    guarded = true;
}

/*
 * Takes the place of open() for the libraries of this program, under both names that it has. libdw
 * has no callback for most of what it opens.
 */
int library_open(const char *path, int flags, ...) __asm__("open");
int library_open64(const char *path, int flags, ...) __asm__("open64");

static int open_for_library(const char *path, int flags, mode_t mode)
{
    const char *cause;
    int fd;

    if (!guarded || (flags & (O_ACCMODE | O_CREAT | O_DIRECTORY | O_PATH)) != O_RDONLY)
        return openat(AT_FDCWD, path, flags, mode);
    fd = regular_open(path, &cause);
    if (fd < 0 && errno == EINVAL) {
        tool_complain(TOOL_BAD_DATA, "%s: not opened: %s", path, cause);
        errno = ENOENT; /* libdw looks elsewhere */
    }
    return fd;
}

int library_open(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode = 0;

    va_start(more, flags);
    if ((flags & (O_CREAT | O_TMPFILE)) != 0)
        mode = va_arg(more, mode_t);
    va_end(more);
    return open_for_library(path, flags, mode);
}

int library_open64(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode = 0;

    va_start(more, flags);
    if ((flags & (O_CREAT | O_TMPFILE)) != 0)
        mode = va_arg(more, mode_t);
    va_end(more);
    return open_for_library(path, flags, mode);
}
