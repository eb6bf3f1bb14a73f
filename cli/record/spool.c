#include "cli/record/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/tool.h"

static const char *const ends[] = { ".sfbr", ".sent.sfbr", ".refused.sfbr" };
static const char part[] = ".part";

static bool has_end(const char *name, const char *end)
{
    const size_t size = strlen(name), of = strlen(end);

    return size > of && strcmp(name + size - of, end) == 0;
}

/* @return false: it is no recording of a spool */
static bool state_of(const char *name, enum spool_state *out)
{
    if (name[0] == '.' || strlen(name) >= sizeof((struct spool_name *)NULL)->text)
        return false;
    for (size_t i = sizeof ends / sizeof *ends; i-- > 0;)
        if (has_end(name, ends[i])) {
            *out = (enum spool_state)i;
            return true;
        }
    return false;
}

static bool fail(const struct spool *spool, const char *what)
{
    tool_complain(TOOL_FAILED, "record: %s: %s%s%s", spool->folder, what, what[0] ? ": " : "",
                  strerror(errno));
    return false;
}

/* --- Opening ----------------------------------------------------------------------------------- */

/* What a process that was killed has written can be read up to there. */
static void rescue(const struct spool *spool)
{
    DIR *folder = opendir(spool->folder);
    char whole[512];

    for (struct dirent *e; folder && (e = readdir(folder));) {
        if (!has_end(e->d_name, part) || strlen(e->d_name) > sizeof whole - 8)
            continue;
        snprintf(whole, sizeof whole, "%.*s%s", (int)(strlen(e->d_name) - strlen(part)), e->d_name,
                 ends[SPOOL_WAITING]);
        renameat(spool->fd, e->d_name, spool->fd, whole);
    }
    if (folder)
        closedir(folder);
}

bool spool_open(struct spool *out, const char *folder, uint64_t keep)
{
    *out = (struct spool){ .keep = keep, .fd = -1, .lock = -1 };
    if (strlen(folder) > sizeof out->folder - sizeof(struct spool_name)) {
        tool_complain(TOOL_FAILED, "record: --spool: the path is too long");
        return false;
    }
    strcpy(out->folder, folder);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return fail(out, "");
    out->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->fd < 0)
        return fail(out, "");
    out->lock = openat(out->fd, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out->lock < 0)
        return fail(out, ".lock");
    if (flock(out->lock, LOCK_EX | LOCK_NB) != 0) {
        tool_complain(TOOL_FAILED, "record: %s: another sfb record has this spool", folder);
        return false;
    }
    rescue(out);
    return true;
}

void spool_close(struct spool *spool)
{
    if (spool->lock >= 0)
        close(spool->lock);
    if (spool->fd >= 0)
        close(spool->fd);
}

/* --- Writing ----------------------------------------------------------------------------------- */

const char *spool_path(const struct spool *spool, const struct spool_name *name)
{
    static char path[4096 + sizeof name->text + 2];

    snprintf(path, sizeof path, "%s/%s", spool->folder, name->text);
    return path;
}

const char *spool_begin(const struct spool *spool, struct spool_name *name)
{
    struct utsname machine;
    struct timespec now;
    char date[64] = "";
    struct tm tm;

    uname(&machine);
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &tm))
        strftime(date, sizeof date, "%Y%m%dT%H%M%S", &tm);
    snprintf(name->text, sizeof name->text, "%.200s-%s.%03ldZ%s", machine.nodename, date,
             now.tv_nsec / 1000000, part);
    return spool_path(spool, name);
}

bool spool_end(const struct spool *spool, const struct spool_name *name)
{
    const int fd = openat(spool->fd, name->text, O_RDONLY | O_CLOEXEC);
    char whole[512];

    if (fd < 0)
        return errno == ENOENT || fail(spool, name->text); /* nothing was recorded */
    snprintf(whole, sizeof whole, "%.*s%s", (int)(strlen(name->text) - strlen(part)), name->text,
             ends[SPOOL_WAITING]);
    if (fsync(fd) != 0 || renameat(spool->fd, name->text, spool->fd, whole) != 0) {
        close(fd);
        return fail(spool, name->text);
    }
    close(fd);
    return fsync(spool->fd) == 0 || fail(spool, "");
}

/* --- Reading ----------------------------------------------------------------------------------- */

static int compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_recording(const struct dirent *e)
{
    enum spool_state state;

    return state_of(e->d_name, &state);
}

static void free_list(struct dirent **list, int count)
{
    for (int i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

/* @return how many were not uploaded */
static size_t drop(const struct spool *spool, struct dirent **list, int count, bool waiting,
                   uint64_t *size)
{
    size_t lost = 0;

    for (int i = 0; i<count && * size> spool->keep; i++) {
        enum spool_state state;
        struct stat file;

        if (!state_of(list[i]->d_name, &state) || (state == SPOOL_WAITING) != waiting ||
            fstatat(spool->fd, list[i]->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
            unlinkat(spool->fd, list[i]->d_name, 0) != 0)
            continue;
        *size -= (uint64_t)file.st_size < *size ? (uint64_t)file.st_size : *size;
        lost += waiting;
    }
    return lost;
}

size_t spool_trim(const struct spool *spool)
{
    struct dirent **list = NULL;
    const int count = spool->keep > 0 ? scandir(spool->folder, &list, is_recording, compare) : 0;
    uint64_t size = 0;
    size_t lost;

    for (int i = 0; i < count; i++) {
        struct stat file;

        if (fstatat(spool->fd, list[i]->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0)
            size += (uint64_t)file.st_size;
    }
    drop(spool, list, count, false, &size);
    lost = drop(spool, list, count, true, &size);
    free_list(list, count);
    return lost;
}

bool spool_next(const struct spool *spool, const char *after, struct spool_name *name)
{
    struct dirent **list = NULL;
    const int count = scandir(spool->folder, &list, is_recording, compare);
    bool found = false;

    for (int i = 0; i < count && !found; i++) {
        enum spool_state state;

        found = state_of(list[i]->d_name, &state) && state == SPOOL_WAITING &&
                strcmp(list[i]->d_name, after) > 0;
        if (found)
            snprintf(name->text, sizeof name->text, "%s", list[i]->d_name);
    }
    free_list(list, count);
    return found;
}

bool spool_mark(const struct spool *spool, const struct spool_name *name, enum spool_state state)
{
    const size_t stem = strlen(name->text) - strlen(ends[SPOOL_WAITING]);
    char marked[sizeof name->text + 16];

    snprintf(marked, sizeof marked, "%.*s%s", (int)stem, name->text, ends[state]);
    return renameat(spool->fd, name->text, spool->fd, marked) == 0 && fsync(spool->fd) == 0;
}
