#include "util/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
 * Opening some devices uses them, so the kind is checked first; and again for the opened file,
 * which may be another one by then.
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
