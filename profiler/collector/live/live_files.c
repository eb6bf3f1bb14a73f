/* Finds the files of live tables: live_map.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/collector/live/live_map.h"
#include "util/grow.h"

struct found {
    struct live_map_file *at;
    size_t count, room;
    bool failed;
};

/* "sfb-heap-PID-START.live" */
static bool parse_name(const char *name, const char *suffix, uint64_t *pid, uint64_t *ticks)
{
    const size_t prefix = sizeof SFB_LIVE_FILE - 1;
    char *end;

    if (strncmp(name, SFB_LIVE_FILE, prefix) != 0 || name[prefix] < '0' || name[prefix] > '9')
        return false;
    *pid = strtoull(name + prefix, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9')
        return false;
    *ticks = strtoull(end + 1, &end, 10);
    return strcmp(end, suffix) == 0;
}

static void add(struct found *f, const char *folder, const char *name, uint64_t wanted)
{
    struct live_map_file file = { .unnamed = false };
    int size;

    if (!parse_name(name, SFB_LIVE_SUFFIX, &file.pid, &file.ticks) ||
        (wanted != 0 && file.pid != wanted))
        return;
    size = snprintf(file.path, sizeof file.path, "%s/%s", folder, name);
    if (size < 0 || (size_t)size >= sizeof file.path)
        return;
    if (!array_make_room(&f->at, f->count, &f->room, sizeof *f->at)) {
        f->failed = true;
        return;
    }
    f->at[f->count++] = file;
}

static void look_in(struct found *f, const char *folder, uint64_t pid)
{
    DIR *open = folder[0] == '/' ? opendir(folder) : NULL;

    if (!open)
        return;
    for (struct dirent *entry; !f->failed && (entry = readdir(open));)
        add(f, folder, entry->d_name, pid);
    closedir(open);
}

/* A line of /proc/PID/maps: "BEGIN-END rw-s OFFSET DEVICE INODE   /dev/shm/sfb-heap-PID-START.live (deleted)". */
static bool look_at_line(struct found *f, char *line, uint64_t pid)
{
    struct live_map_file file = { .unnamed = true };
    const char *name = strrchr(line, '/');

    line[strcspn(line, "\n")] = '\0';
    if (!name || !parse_name(name + 1, SFB_LIVE_SUFFIX " (deleted)", &file.pid, &file.ticks) ||
        file.pid != pid)
        return false;
    snprintf(file.path, sizeof file.path, "/proc/%lu/map_files/%.*s", (unsigned long)pid,
             (int)strcspn(line, " "), line);
    f->failed = !array_make_room(&f->at, f->count, &f->room, sizeof *f->at);
    if (!f->failed)
        f->at[f->count++] = file;
    return true;
}

static void look_in_process(struct found *f, uint64_t pid)
{
    char path[64], line[1024];
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%lu/maps", (unsigned long)pid);
    maps = fopen(path, "re");
    if (!maps)
        return;
    while (fgets(line, sizeof line, maps) && !look_at_line(f, line, pid))
        continue;
    fclose(maps);
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* By pid, then by start: the latest process of a reused pid comes last. */
static int compare(const void *left, const void *right)
{
    const struct live_map_file *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

size_t live_map_find(uint64_t pid, struct live_map_file **out)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct found found = { 0 };
    char usual[64];

    snprintf(usual, sizeof usual, "/run/user/%lu", (unsigned long)getuid());
    if (runtime)
        look_in(&found, runtime, pid);
    if (!runtime || !is_same_folder(runtime, usual))
        look_in(&found, usual, pid);
    if (!runtime || !is_same_folder(runtime, SFB_LIVE_FOLDER))
        look_in(&found, SFB_LIVE_FOLDER, pid);
    if (pid != 0 && found.count == 0)
        look_in_process(&found, pid);
    *out = found.at;
    if (found.failed)
        return SIZE_MAX;
    if (found.count > 0)
        qsort(found.at, found.count, sizeof *found.at, compare);
    return found.count;
}
