#include "profiler/collector/outside/attach_tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/collector/processes/tasks.h"
#include "symbols/own_vdso.h"
#include "symbols/process.h"
#include "util/index.h"

enum { TASKS_MOST = 32768 };

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
    struct stat its, ours;

    snprintf(path, sizeof path, "/proc/%u/ns/mnt", pid);
    snprintf(out, 32, "/proc/%u/root", pid);
    if (stat(path, &its) != 0 || stat("/proc/self/ns/mnt", &ours) != 0 || its.st_ino == ours.st_ino)
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

/*
 * Build-ids of files that were met, by inode and device: two hundred processes of one program have the same ones, and each is
 * read from 64 KiB of memory.
 */
static struct {
    struct report_index by_inode;
    REPORT_ARRAY(struct object_build_id) ids;
} met;

/* @return the file's build-id; NULL: it was not met before */
static const struct object_build_id *find_met(const struct object_mapped *file)
{
    uint32_t at;

    return file->inode != 0 && !file->deleted &&
                   report_index_has(&met.by_inode, file->inode, file->device, &at) &&
                   at < met.ids.count
               ? &met.ids.at[at]
               : NULL;
}

static void keep_met(const struct object_mapped *file, const struct object_build_id *id)
{
    struct object_build_id *next;
    uint32_t at;
    bool known;

    if (file->inode == 0 || file->deleted || id->size == 0 ||
        !report_index_find(&met.by_inode, file->inode, file->device, (uint32_t)met.ids.count, &at,
                           &known) ||
        known)
        return;
    next = REPORT_NEXT(met.ids);
    if (next)
        *next = *id;
}

/* @param opens  another path to the file; NULL: none */
static void introduce_file(struct outside *outside, const struct object_process *process,
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
        outside_map(outside, (uint32_t)process->pid, &mapping);
    }
}

static void introduce_files(struct outside *outside, struct object_process *process)
{
    for (size_t i = 0; i < process->maps.module_count; i++) {
        const struct object_mapped *file = &process->maps.modules[i];
        const struct object_build_id *known = find_met(file);
        struct object_process_module facts;

        if (known) {
            introduce_file(outside, process, i, known, NULL);
            continue;
        }
        object_process_module(&facts, process, i);
        if (!facts.module.opens)
            keep_met(file, &facts.module.id);
        introduce_file(outside, process, i, &facts.module.id, facts.module.opens);
        object_process_module_free(&facts);
    }
}

/* --- Processes ------------------------------------------------------------------------------------------ */

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

void attach_introduce(struct outside *outside, pid_t pid, uint64_t time)
{
    struct object_process process;
    const char *cause;
    char name[64];

    sfb_recorder_task_name(pid, name, sizeof name);
    outside_program(outside, (uint32_t)pid, (uint32_t)sfb_recorder_task_parent(pid), time, name);
    introduce_threads(outside, pid);
    if (!object_process_open(&process, pid, &cause))
        return;
    introduce_files(outside, &process);
    object_process_close(&process);
}

static bool add(struct attach_pids *out, pid_t pid)
{
    pid_t *next = REPORT_NEXT(out->pids);

    if (next)
        *next = pid;
    return next != NULL;
}

bool attach_list_user(struct attach_pids *out, uid_t user)
{
    DIR *folder = opendir("/proc");
    bool good = folder != NULL;
    struct dirent *entry;

    while (good && (entry = readdir(folder)) != NULL) {
        struct sfb_recorder_task task;
        char *end;
        const long pid = strtol(entry->d_name, &end, 10);

        if (pid <= 0 || *end != '\0')
            continue;
        if (user == (uid_t)-1 || (sfb_recorder_task_read(&task, (pid_t)pid) && task.user == user))
            good = add(out, (pid_t)pid);
    }
    if (folder)
        closedir(folder);
    return good;
}

bool attach_list_tree(struct attach_pids *out, pid_t pid, bool children)
{
    pid_t *below = children ? calloc(TASKS_MOST, sizeof *below) : NULL;
    bool good = add(out, pid) && (below || !children);

    for (size_t i = out->pids.count - 1; good && children && i < out->pids.count; i++) {
        const size_t count = sfb_recorder_children_of(out->pids.at[i], below, TASKS_MOST);

        for (size_t k = 0; good && k < count && out->pids.count < TASKS_MOST; k++)
            good = add(out, below[k]);
    }
    free(below);
    return good;
}
