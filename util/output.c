#include "util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/write_all.h"

static const uint8_t zeros[4096];

static bool write_zeros(int fd, uint64_t count)
{
    while (count > 0) {
        size_t n = count < sizeof zeros ? (size_t)count : sizeof zeros;

        if (sfb_write_all(fd, zeros, n) < n)
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

        if (!good || sfb_write_all(fd, parts[i].data, parts[i].size) < parts[i].size)
            return false;
        at = parts[i].offset + parts[i].size;
    }
    return true;
}

/* What is written: parts with holes between them, or what a filler writes. */
struct content {
    const struct output_part *parts;
    size_t count;
    output_filler *fill; /* NULL: parts */
    void *user;
};

/* @return false: errno says why */
static bool write_content(int fd, bool holes, const struct content *content)
{
    return content->fill ? content->fill(content->user, fd)
                         : write_parts(fd, holes, content->parts, content->count);
}

/* Reports errno. */
static bool failed(const char *path, const struct reporter *reporter)
{
    reporter_say(reporter, REPORTED_UNREADABLE, "%s: %s", path, strerror(errno));
    return false;
}

static bool write_stream(int fd, const char *name, const struct content *content,
                         const struct reporter *reporter)
{
    return write_content(fd, false, content) || failed(name, reporter);
}

/* A named pipe may belong to another user, and be read by that user. An unnamed one (a shell's) is this command's. */
static bool is_foreign_pipe(int fd, const struct stat *file)
{
    struct statfs system;

    return S_ISFIFO(file->st_mode) && file->st_uid != geteuid() && file->st_uid != 0 &&
           (fstatfs(fd, &system) != 0 || system.f_type != PIPEFS_MAGIC);
}

/* Checks the file's type and owner through O_PATH before opening it for writing. */
int output_open_special(const char *path, const char **cause)
{
    const int handle = open(path, O_PATH | O_CLOEXEC);
    struct stat file;
    char link[64];
    int fd = -1;

    if (handle < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    errno = EEXIST; /* it is another one by now */
    if (fstat(handle, &file) == 0 && !S_ISREG(file.st_mode)) {
        if (is_foreign_pipe(handle, &file))
            *cause = "a pipe of another user";
        else
            fd = open(link, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    }
    close(handle);
    return fd;
}

static bool write_device(const char *path, const struct content *content,
                         const struct reporter *reporter)
{
    const char *cause = NULL;
    const int fd = output_open_special(path, &cause);
    bool good;

    if (fd < 0 && cause)
        reporter_say(reporter, REPORTED_UNREADABLE, "%s: %s", path, cause);
    if (fd < 0)
        return cause ? false : failed(path, reporter);
    good = write_stream(fd, path, content, reporter);
    if (close(fd) != 0 && good)
        return failed(path, reporter);
    return good;
}

/* --- a file that is whole or is not there --------------------------------------------------------
 *
 * It is written without a name (O_TMPFILE), so that whatever ends this program leaves nothing
 * behind. Where a file stands already, linkat() does not replace it: the new one gets a name beside
 * it for as long as rename() takes, with all signals blocked.
 *
 * Not every file system has O_TMPFILE, and linkat() of it wants /proc. Elsewhere the file has such a
 * name from the start, and a handler removes it: only SIGKILL leaves it behind.
 */

static char *temporary; /* what a handler removes */

/* The signals that end a program unless it asks for them. SIGXFSZ is ignored here. */
static const int deadly[] = { SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGPIPE, SIGALRM,
                              SIGXCPU, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2 };

enum { DEADLY_COUNT = sizeof deadly / sizeof *deadly };

static void remove_temporary(int number)
{
    unlink(temporary);
    /* SA_RESETHAND: the default action is back, and comes when the handler returns. */
    raise(number);
}

static void block(sigset_t *old)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, old);
}

/* A signal that was ignored, by nohup for example, stays so. */
static void handle_deadly(struct sigaction *old)
{
    struct sigaction action = { .sa_handler = remove_temporary, .sa_flags = (int)SA_RESETHAND };

    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        sigaction(deadly[i], NULL, &old[i]);
        if (old[i].sa_handler == SIG_DFL)
            sigaction(deadly[i], &action, NULL);
    }
}

static void restore_deadly(const struct sigaction *old)
{
    for (size_t i = 0; i < DEADLY_COUNT; i++)
        sigaction(deadly[i], &old[i], NULL);
}

static bool fill_file(int fd, unsigned mode, const struct content *content)
{
    return write_content(fd, true, content) && fchmod(fd, mode) == 0;
}

/* A name beside a path; of other files none has it. @return whether there is one; errno says why */
static bool make_name(char **out, const char *path, int *fd)
{
    if (asprintf(out, "%s.XXXXXX", path) < 0) {
        *out = NULL;
        errno = ENOMEM;
        return false;
    }
    *fd = mkostemp(*out, O_CLOEXEC);
    return *fd >= 0;
}

/* @return 1: it is in its place; 0: not; -1: this cannot be done here. errno says why */
static int give_name(int fd, const char *path)
{
    char link[64], *name = NULL;
    int other = -1, cause, result;
    sigset_t old;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
        return 1;
    if (errno != EEXIST)
        return -1;
    block(&old);
    result = 0;
    if (make_name(&name, path, &other) && unlink(name) == 0) {
        result = linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 1 : -1;
        if (result == 1 && rename(name, path) != 0) {
            cause = errno;
            unlink(name);
            errno = cause;
            result = 0;
        }
    }
    cause = errno;
    if (other >= 0)
        close(other);
    free(name);
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = cause;
    return result;
}

/* @return as give_name() */
static int write_nameless(const char *path, unsigned mode, const struct content *content)
{
    char *copy = strdup(path);
    int fd, cause, result;

    if (!copy) {
        errno = ENOMEM;
        return 0;
    }
    fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    free(copy);
    if (fd < 0)
        return -1;
    result = fill_file(fd, mode, content) ? give_name(fd, path) : 0;
    cause = errno;
    if (close(fd) != 0 && result == 1)
        return 0; /* it stands there; that its bytes do is not sure */
    errno = cause;
    return result;
}

/* @return false: errno says why */
static bool write_named(const char *path, unsigned mode, const struct content *content)
{
    struct sigaction before[DEADLY_COUNT];
    int fd = -1, cause;
    bool good;
    sigset_t old;

    block(&old);
    good = make_name(&temporary, path, &fd);
    if (good) {
        handle_deadly(before);
        sigprocmask(SIG_SETMASK, &old, NULL);
        good = fill_file(fd, mode, content);
        cause = errno;
        if (close(fd) != 0 && good) {
            good = false;
            cause = errno;
        }
        block(&old);
        errno = cause;
        good = good && rename(temporary, path) == 0;
        cause = errno;
        if (!good)
            unlink(temporary);
        restore_deadly(before);
        errno = cause;
    }
    cause = errno;
    free(temporary);
    temporary = NULL;
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = cause;
    return good;
}

static bool write_file(const char *path, unsigned mode, const struct content *content,
                       const struct reporter *reporter)
{
    int result = write_nameless(path, mode, content);

    if (result < 0)
        result = write_named(path, mode, content);
    return result == 1 || failed(path, reporter);
}

static bool write_to(const char *path, unsigned mode, const struct content *content,
                     const struct reporter *reporter)
{
    struct stat status;
    char *target;
    bool good;

    /* A file size limit then fails write() as a full disk does, and leaves nothing behind. */
    signal(SIGXFSZ, SIG_IGN);
    if (strcmp(path, "-") == 0)
        return write_stream(STDOUT_FILENO, "standard output", content, reporter);
    if (stat(path, &status) != 0)
        return write_file(path, mode, content, reporter);
    if (!S_ISREG(status.st_mode))
        return write_device(path, content, reporter);
    /* A link keeps being one, and what it leads to is replaced. */
    target = realpath(path, NULL);
    if (!target)
        return failed(path, reporter);
    good = write_file(target, mode, content, reporter);
    free(target);
    return good;
}

bool output_write(const char *path, unsigned mode, const struct output_part *parts, size_t count,
                  const struct reporter *reporter)
{
    const struct content content = { .parts = parts, .count = count };

    return write_to(path, mode, &content, reporter);
}

bool output_write_stream(const char *path, unsigned mode, output_filler *fill, void *user,
                         const struct reporter *reporter)
{
    const struct content content = { .fill = fill, .user = user };

    return write_to(path, mode, &content, reporter);
}
