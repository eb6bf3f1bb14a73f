#include "symbols/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_MAX = 64 << 10, /* of a module: up to its notes */
    IMAGE_MAX = 1 << 20, /* the vDSO is two pages */
};

/* @return the text, for free(); NULL: errno is set */
static char *read_maps(pid_t pid, size_t *size)
{
    size_t room = 64 << 10;
    char path[32], *text = NULL;
    ssize_t got = 1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    for (*size = 0; got > 0; *size += (size_t)(got > 0 ? got : 0)) {
        if (*size == room || !text) {
            char *more = realloc(text, room *= 2);

            if (!more)
                break;
            text = more;
        }
        got = read(fd, text + *size, room - *size);
    }
    close(fd);
    if (got == 0)
        return text;
    free(text);
    return NULL;
}

/* Whether the process has another root than we. */
static bool has_other_root(pid_t pid, const char *root)
{
    struct stat ours, its;
    char path[32];

    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    if (stat(path, &its) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 && its.st_ino != ours.st_ino)
        return true;
    return stat(root, &its) == 0 && stat("/", &ours) == 0 &&
           (its.st_ino != ours.st_ino || its.st_dev != ours.st_dev);
}

bool object_process_open(struct object_process *out, pid_t pid, const char **cause)
{
    size_t size, line;
    char *text = read_maps(pid, &size), path[32];

    *out = (struct object_process){ .pid = pid, .memory = -1 };
    if (!text) {
        *cause = strerror(errno == ENOENT ? ESRCH : errno);
        return false;
    }
    *cause = size > 0 ? object_maps_read(&out->maps, text, size, &line) : "it has no memory map";
    free(text);
    if (*cause) {
        object_maps_free(&out->maps);
        return false;
    }
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    out->memory = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(out->root, sizeof out->root, "/proc/%d/root", (int)pid);
    if (!has_other_root(pid, out->root))
        out->root[0] = '\0';
    return true;
}

void object_process_close(struct object_process *process)
{
    if (process->memory >= 0)
        close(process->memory);
    object_maps_free(&process->maps);
}

/* Copies a mapping. @return NULL: unreadable, or larger */
static void *copy_mapping(const struct object_process *process, const struct object_mapping *m,
                          size_t max, bool cut, size_t *size)
{
    const uint64_t all = m->end - m->start;
    void *copy;
    ssize_t got;

    if (process->memory < 0 || (all > max && !cut) || m->start > INT64_MAX)
        return NULL;
    *size = all < max ? (size_t)all : max;
    copy = malloc(*size);
    got = copy ? pread(process->memory, copy, *size, (off_t)m->start) : -1;
    if (got == (ssize_t)*size)
        return copy;
    free(copy);
    return NULL;
}

/* The build-id in memory: a file may be overwritten meanwhile. */
static void build_id_in_memory(struct object_build_id *out, const struct object_process *process,
                               const struct object_mapping *m)
{
    size_t size;
    uint8_t *head = m->offset == 0 ? copy_mapping(process, m, HEAD_MAX, true, &size) : NULL;

    if (head)
        object_build_id_of_head(out, head, size);
    free(head);
}

/* Whether the path still leads to the mapped file. */
static bool is_at_its_path(const struct object_process *process, const struct object_mapped *m)
{
    struct stat status;
    char *path = NULL;
    bool same;

    if (m->deleted || asprintf(&path, "%s%s", process->root, m->path) < 0)
        return false;
    same = stat(path, &status) == 0 && status.st_ino == m->inode;
    free(path);
    return same;
}

void object_process_module(struct object_process_module *out, const struct object_process *process,
                           size_t index)
{
    const struct object_mapped *mapped = &process->maps.modules[index];
    const struct object_mapping *m = &process->maps.mappings[mapped->first];

    *out = (struct object_process_module){ .module = { .path = mapped->path } };
    if (process->root[0])
        out->module.root = process->root;
    build_id_in_memory(&out->module.id, process, m);
    if (mapped->inode == 0) {
        out->image = copy_mapping(process, m, IMAGE_MAX, false, &out->module.image_size);
        out->module.image = out->image;
        return;
    }
    out->module.gone = mapped->deleted;
    if (process->pid != 0 && !is_at_its_path(process, mapped)) {
        snprintf(out->opens, sizeof out->opens, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
                 (int)process->pid, m->start, m->end);
        out->module.opens = out->opens;
    }
}

void object_process_module_free(struct object_process_module *module)
{
    free(module->image);
}
