#include "profiler/collector/outside/attach_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"
#include "remote/task_files.h"
#include "symbols/own_vdso.h"
#include "symbols/process.h"
#include "util/index.h"
#include "util/regular.h"

enum { TASKS_MOST = 32768, HEAD_MAX = 64 << 10 /* of a file: up to its notes */ };

/* --- Files ---------------------------------------------------------------------------------------------- */

static void set_vdso(struct sfb_copied_mapping *m)
{
    if (m->path && strcmp(m->path, "[vdso]") == 0)
        m->image = object_own_vdso(&m->image_size);
}

/* @return the root of a process; NULL: it is ours, or the process is gone */
static const char *root_of(char out[32], uint32_t pid)
{
    char path[32];
    static struct stat ours;
    struct stat its;

    if (pid == 0) /* of another PID namespace */
        return NULL;
    if (ours.st_ino == 0 && stat("/proc/self/ns/mnt", &ours) != 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/%u/ns/mnt", pid);
    snprintf(out, 32, "/proc/%u/root", pid);
    if (stat(path, &its) != 0 || its.st_ino == ours.st_ino)
        return NULL;
    return out;
}

void attach_describe(void *user, struct sfb_copied_mapping *out, uint32_t pid,
                     const struct perf_mmap *record)
{
    static char root[32];

    (void)user;
    (void)record;
    set_vdso(out);
    if (out->path && out->path[0] == '/')
        out->root = root_of(root, pid);
}

uint32_t attach_owner(void *user, uint32_t pid)
{
    struct sfb_recorder_task task;

    (void)user;
    return sfb_recorder_task_read(&task, (pid_t)pid) ? task.user : UINT32_MAX;
}

/*
 * Build-ids of files that were met: two hundred processes of one program have the same ones, and each is read from 64 KiB.
 * They are read from the files alone: what a process has in its memory it may have overwritten.
 */
struct met {
    struct object_build_id id;
    off_t size;
    struct timespec changed;
};

static struct {
    struct report_index by_inode;
    REPORT_ARRAY(struct met) files;
} met;

/* As the memory map has it. Some file systems have another device there: such files pass for others. */
static bool is_mapped_one(const struct stat *s, const struct object_mapped *file)
{
    return s->st_ino == file->inode &&
           ((uint64_t)major(s->st_dev) << 32 | minor(s->st_dev)) == file->device;
}

/*
 * @param out  written: the file's path here, for free()
 * @return false: it is no file, or another file is at its path now
 */
static bool find_mapped(char **out, struct stat *now, const struct object_process *process,
                        const struct object_mapped *file)
{
    if (file->inode == 0 || file->deleted || asprintf(out, "%s%s", process->root, file->path) < 0) {
        *out = NULL;
        return false;
    }
    return stat(*out, now) == 0 && is_mapped_one(now, file);
}

/* @return false: no build-id in it, or another file is at its path now */
static bool read_build_id(struct object_build_id *out, const char *path, struct stat *now,
                          const struct object_mapped *file)
{
    const char *cause;
    const int fd = regular_open(path, &cause);
    uint8_t *head = fd >= 0 ? malloc(HEAD_MAX) : NULL;
    const ssize_t size =
        head && fstat(fd, now) == 0 && is_mapped_one(now, file) ? pread(fd, head, HEAD_MAX, 0) : -1;
    const bool good = size > 0 && object_build_id_of_head(out, head, (size_t)size);

    free(head);
    if (fd >= 0)
        close(fd);
    return good;
}

static bool is_as_met(const struct met *m, const struct stat *now)
{
    return m->size == now->st_size && m->changed.tv_sec == now->st_mtim.tv_sec &&
           m->changed.tv_nsec == now->st_mtim.tv_nsec;
}

/* @return the file's build-id; NULL: it was not met before, as it is */
static const struct object_build_id *find_met(const struct object_mapped *file,
                                              const struct stat *now)
{
    uint32_t at;

    return report_index_has(&met.by_inode, file->inode, file->device, &at) &&
                   at < met.files.count && is_as_met(&met.files.at[at], now)
               ? &met.files.at[at].id
               : NULL;
}

static void keep_met(const struct object_mapped *file, const struct stat *now,
                     const struct object_build_id *id)
{
    uint32_t at;
    bool known;

    if (id->size == 0 || !report_index_find(&met.by_inode, file->inode, file->device,
                                            (uint32_t)met.files.count, &at, &known))
        return;
    if ((known || REPORT_NEXT(met.files)) && at < met.files.count)
        met.files.at[at] = (struct met){ *id, now->st_size, now->st_mtim };
}

/* @param opens  another path to the file; NULL: none */
static void introduce_file(struct outside *outside, pid_t pid, const struct object_process *process,
                           size_t module, const struct object_build_id *id, const char *opens)
{
    const struct object_maps *maps = &process->maps;

    for (size_t k = maps->modules[module].first; k < maps->mapping_count; k++) {
        const struct object_mapping *m = &maps->mappings[k];
        struct sfb_copied_mapping mapping = { .start = m->start,
                                              .end = m->end,
                                              .offset = m->offset,
                                              .executable = m->executable,
                                              .path = maps->modules[module].path,
                                              .root = process->root[0] ? process->root : NULL,
                                              .opens = opens,
                                              .build_id = id->bytes,
                                              .build_id_size = id->size };

        if (m->module != module || !m->executable)
            continue;
        set_vdso(&mapping);
        outside_map(outside, (uint32_t)pid, &mapping);
    }
}

/* @return its file's build-id; NULL: only the process's memory has it */
static const struct object_build_id *met_or_read(const struct object_process *process,
                                                 const struct object_mapped *file)
{
    const struct object_build_id *known = NULL;
    struct object_build_id id;
    struct stat now;
    char *path;

    if (find_mapped(&path, &now, process, file)) {
        known = find_met(file, &now);
        if (!known && read_build_id(&id, path, &now, file)) {
            keep_met(file, &now, &id);
            known = find_met(file, &now);
        }
    }
    free(path);
    return known;
}

static bool has_code(const struct object_maps *maps, size_t module)
{
    for (size_t k = maps->modules[module].first; k < maps->mapping_count; k++)
        if (maps->mappings[k].module == module && maps->mappings[k].executable)
            return true;
    return false;
}

/* A mapped file without code is not opened: it may be of a file system that is slow, or hangs. */
static void introduce_module(struct outside *outside, pid_t pid,
                             const struct object_process *process, size_t module)
{
    const struct object_build_id *known = met_or_read(process, &process->maps.modules[module]);
    struct object_process_module facts;

    if (known) {
        introduce_file(outside, pid, process, module, known, NULL);
        return;
    }
    object_process_module(&facts, process, module);
    introduce_file(outside, pid, process, module, &facts.module.id, facts.module.opens);
    object_process_module_free(&facts);
}

bool attach_introduce_files(struct outside *outside, pid_t pid)
{
    const pid_t live = attach_live_task(pid);
    struct object_process process;
    const char *cause;

    errno = ESRCH;
    if (!object_process_open(&process, live, &cause))
        return errno != EMFILE && errno != ENFILE && errno != ENOMEM;
    for (size_t i = 0; i < process.maps.module_count; i++)
        if (has_code(&process.maps, i))
            introduce_module(outside, pid, &process, i);
    object_process_close(&process);
    return true;
}

/* --- Processes ------------------------------------------------------------------------------------------ */

pid_t attach_live_task(pid_t pid)
{
    pid_t *tids, live = 0;
    size_t count;

    if (!sfb_recorder_task_is_dead(pid))
        return pid;
    tids = calloc(TASKS_MOST, sizeof *tids);
    count = tids ? sfb_recorder_tasks_of(pid, tids, TASKS_MOST) : 0;
    for (size_t i = 0; i < count && live == 0; i++)
        live = sfb_recorder_task_is_dead(tids[i]) ? 0 : tids[i];
    free(tids);
    return live != 0 ? live : pid;
}

static void introduce_threads(struct outside *outside, pid_t pid)
{
    pid_t *tids = calloc(TASKS_MOST, sizeof *tids);
    const size_t count = tids ? sfb_recorder_tasks_of(pid, tids, TASKS_MOST) : 0;

    for (size_t i = 0; i < count; i++) {
        char name[64];

        sfb_recorder_task_name(tids[i], name, sizeof name);
        outside_thread(outside, (uint32_t)pid, (uint32_t)tids[i], name);
    }
    free(tids);
}

bool attach_introduce(struct outside *outside, pid_t pid, uint64_t time)
{
    char name[64];

    sfb_recorder_task_name(pid, name, sizeof name);
    outside_program(outside, (uint32_t)pid, (uint32_t)sfb_recorder_task_parent(pid), time, name);
    introduce_threads(outside, pid);
    return attach_introduce_files(outside, pid);
}

static bool add(struct attach_pids *out, pid_t pid)
{
    pid_t *next = REPORT_NEXT(out->pids);

    if (next)
        *next = pid;
    return next != NULL;
}

/* @param out  noted, if it could not be read */
static bool is_of(struct attach_pids *out, pid_t pid, uid_t user)
{
    struct sfb_recorder_task task;

    errno = ESRCH;
    if (sfb_recorder_task_read(&task, pid))
        return task.user == user;
    out->partial |= !remote_task_has_ended(errno);
    return false;
}

bool attach_list_user(struct attach_pids *out, uid_t user)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    bool good = true;

    out->partial |= !folder;
    if (!folder)
        return errno != ENOENT;
    for (errno = 0; good && (entry = readdir(folder)) != NULL; errno = 0) {
        char *end;
        const long pid = strtol(entry->d_name, &end, 10);

        if (pid > 0 && *end == '\0' && (user == (uid_t)-1 || is_of(out, (pid_t)pid, user)))
            good = add(out, (pid_t)pid);
    }
    out->partial |= errno != 0;
    closedir(folder);
    return good;
}

bool attach_list_tree(struct attach_pids *out, pid_t pid, bool children)
{
    pid_t *below = children ? calloc(TASKS_MOST, sizeof *below) : NULL;
    bool good = add(out, pid) && (below || !children);

    for (size_t i = out->pids.count - 1; good && children && i < out->pids.count; i++) {
        const size_t count = sfb_recorder_children_of(out->pids.at[i], below, TASKS_MOST);

        out->partial |= errno != 0;
        for (size_t k = 0; good && k < count && out->pids.count < TASKS_MOST; k++)
            good = add(out, below[k]);
    }
    free(below);
    return good;
}
