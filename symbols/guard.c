#include "symbols/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "symbols/packed.h"
#include "util/regular.h"

static bool guarded;
static struct reporter reporter;

void object_guard_libraries(const struct reporter *to)
{
    reporter = *to;
    guarded = true;
}

static void report_unopened(const char *path, const char *cause)
{
    reporter_say(&reporter, REPORTED_BAD_DATA, "%s: not opened: %s", path, cause);
}

/* Whether a file of split debug information unpacks to too much: libdw unpacks it at once. */
static bool is_too_much(int fd, const char *path)
{
    struct object_packed largest;
    char cause[256];
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const bool refused =
        elf && elf_kind(elf) == ELF_K_ELF && object_packed_is_too_much(elf, &largest);

    elf_end(elf);
    lseek(fd, 0, SEEK_SET);
    if (refused) {
        snprintf(cause, sizeof cause, OBJECT_PACKED_CAUSE, largest.name,
                 (unsigned long)largest.packed, (unsigned long)largest.unpacked);
        report_unopened(path, cause);
    }
    return refused;
}

/* Replaces open() for the program's libraries, under both of its names: hidden ones would be the program's alone. */
#define FOR_LIBRARIES __attribute__((visibility("default")))
FOR_LIBRARIES int library_open(const char *path, int flags, ...) __asm__("open");
FOR_LIBRARIES int library_open64(const char *path, int flags, ...) __asm__("open64");

static int open_for_library(const char *path, int flags, mode_t mode)
{
    const char *cause;
    int fd;

    if (!guarded || (flags & (O_ACCMODE | O_CREAT | O_DIRECTORY | O_PATH)) != O_RDONLY)
        return openat(AT_FDCWD, path, flags, mode);
    fd = regular_open(path, &cause);
    if (fd < 0 && errno == EINVAL) {
        report_unopened(path, cause);
        errno = ENOENT; /* libdw then looks elsewhere */
    }
    if (fd >= 0 && is_too_much(fd, path)) {
        close(fd);
        errno = ENOENT;
        return -1;
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
