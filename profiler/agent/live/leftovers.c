#include "profiler/agent/live/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/protocol/live.h"
#include "util/fnv.h"
#include "util/read_all.h"

enum { KEPT = 3, FILES = 1024, NAME = 64, ENTRIES = 16 << 10 };

struct leftover {
    char name[NAME];
    uint64_t program; /* hash of its path */
    uint64_t time;    /* when the table began */
    ino_t inode;
    bool useless; /* at a clean exit the process could not remove it */
};

/* One mapping: too large for a stack. */
struct work {
    int folder;
    uint32_t count;
    struct sfb_live head;
    struct leftover files[FILES];
    char entries[ENTRIES];
};

/* As getdents64() gives it. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

static bool is_table(const char *name)
{
    const size_t size = strnlen(name, NAME), suffix = sizeof SFB_LIVE_SUFFIX - 1;

    return size < NAME && size > suffix &&
           strncmp(name, SFB_LIVE_FILE, sizeof SFB_LIVE_FILE - 1) == 0 &&
           strcmp(name + size - suffix, SFB_LIVE_SUFFIX) == 0;
}

static bool is_held(int fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* Whether no process has the table any more. @param fd  a file of this user */
static bool is_left(const struct work *w, int fd)
{
    return memcmp(w->head.magic, SFB_LIVE_MAGIC, sizeof w->head.magic) == 0 &&
           w->head.version == SFB_LIVE_VERSION && w->head.flags & SFB_LIVE_LOCKED &&
           w->head.text_size <= SFB_LIVE_TEXT && !is_held(fd);
}

static void note(struct work *w, const char *name, ino_t inode)
{
    const size_t path = strnlen(w->head.text, w->head.text_size);
    struct leftover *file = &w->files[w->count++];

    memcpy(file->name, name, strlen(name) + 1);
    file->program = sfb_fnv(SFB_FNV_START, w->head.text, path);
    file->time = w->head.realtime;
    file->inode = inode;
    file->useless = w->head.flags & SFB_LIVE_ENDED && w->head.counts.overruns == 0;
}

static void look_at(struct work *w, const char *name)
{
    const int fd = openat(w->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat file;

    if (fd < 0)
        return;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
        file.st_nlink == 1 && sfb_read_all_at(fd, &w->head, sizeof w->head, 0) == sizeof w->head &&
        is_left(w, fd))
        note(w, name, file.st_ino);
    close(fd);
}

static void look_in_folder(struct work *w)
{
    long size;

    while ((size = syscall(SYS_getdents64, w->folder, w->entries, sizeof w->entries)) > 0)
        for (long at = 0; at < size;) {
            const struct entry *entry = (const struct entry *)(const void *)(w->entries + at);

            if (w->count < FILES && is_table(entry->name))
                look_at(w, entry->name);
            at += entry->size;
        }
}

/* Whether KEPT files of its program are newer. */
static bool is_old(const struct work *w, const struct leftover *file)
{
    uint32_t newer = 0;

    for (uint32_t i = 0; i < w->count; i++)
        newer += w->files[i].program == file->program && !w->files[i].useless &&
                 w->files[i].time > file->time;
    return newer >= KEPT;
}

/* Another process may have made a new file of that name. */
static void remove_it(const struct work *w, const struct leftover *file)
{
    struct stat now;

    if (fstatat(w->folder, file->name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == file->inode)
        unlinkat(w->folder, file->name, 0);
}

/* Opens the folder of a file. */
static int open_folder(const char *path)
{
    const char *end = strrchr(path, '/');
    char folder[512];

    if (!end || end == path || (size_t)(end - path) >= sizeof folder)
        return -1;
    memcpy(folder, path, (size_t)(end - path));
    folder[end - path] = '\0';
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void sfb_live_leftovers_remove(const char *path)
{
    struct work *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (w == MAP_FAILED)
        return;
    w->folder = open_folder(path);
    if (w->folder >= 0) {
        look_in_folder(w);
        for (uint32_t i = 0; i < w->count; i++)
            if (w->files[i].useless || is_old(w, &w->files[i]))
                remove_it(w, &w->files[i]);
        close(w->folder);
    }
    munmap(w, sizeof *w);
}
