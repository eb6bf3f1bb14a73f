/* The front door: <sfb/remote.h>. */
#include "sfb/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sized.h"
#include "remote/access_fault.h"
#include "remote/consistent.h"
#include "remote/core.h"
#include "remote/target_modules.h"
#include "remote/thread_read.h"
#include "util/grow.h"
#include "util/regular.h"

enum {
    FRAMES_MAX = 65536,
    BATCH = 256 /* threads whose stacks are copied before the first of them is walked */
};

struct sfb_remote {
    pid_t pid;
    int tasks; /* descriptor of /proc/PID/task */
    struct remote_memory
        memory; /* of a live thread: the memory of a first thread that has ended cannot be read */
    struct remote_modules modules;
    struct remote_python python;
    bool have_modules;
    struct remote_thread *batch; /* BATCH of them, whose room is used again */
    struct sfb_remote_thread *threads;
    size_t count, room;
    struct remote_core *core; /* NULL: a process; else what stands above the threads is not used */
};

static bool fail(struct sfb_remote_fault *fault, const char *why)
{
    snprintf(fault->why, sizeof fault->why, "%s", why);
    return false;
}

/* What the kernel said, unless there is more to say. */
static bool fail_by_error(struct sfb_remote_fault *fault, pid_t pid, int error)
{
    if (remote_access_fault(fault, pid))
        return false;
    return fail(fault, error == ESRCH ? "no such process" : strerror(error));
}

struct sfb_remote *sfb_remote_open(pid_t pid, struct sfb_remote_fault *fault)
{
    struct sfb_remote *r;
    char path[32];

    if (remote_access_fault(fault, pid))
        return NULL;
    r = calloc(1, sizeof *r);
    if (r)
        r->batch = calloc(BATCH, sizeof *r->batch);
    if (!r || !r->batch || !remote_memory_open(&r->memory, pid)) {
        free(r ? r->batch : NULL);
        free(r);
        fail(fault, strerror(ENOMEM));
        return NULL;
    }
    r->pid = pid;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    r->tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->tasks >= 0)
        return r;
    fail_by_error(fault, pid, errno);
    sfb_remote_close(r);
    return NULL;
}

static int open_core_file(const char *path, struct sfb_remote_fault *fault)
{
    const char *cause;
    const int fd = regular_open(path, &cause);

    if (fd < 0)
        fail(fault, cause);
    return fd;
}

struct sfb_remote *sfb_remote_open_core(const char *path,
                                        const struct sfb_remote_core_options *options,
                                        struct sfb_remote_fault *fault)
{
    struct sfb_remote_core_options how = { .size = sizeof how };
    struct sfb_remote *r;
    int fd;

    if (options && sfb_sized_read(&how, sizeof how, options) != SFB_OK) {
        fail(fault, "the options are not valid");
        return NULL;
    }
    fd = open_core_file(path, fault);
    if (fd < 0)
        return NULL;
    r = calloc(1, sizeof *r);
    if (!r) {
        close(fd);
        fail(fault, strerror(ENOMEM));
        return NULL;
    }
    r->tasks = -1;
    r->core = remote_core_open(fd, &how, fault);
    if (r->core)
        return r;
    free(r);
    return NULL;
}

static void forget_threads(struct sfb_remote *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->threads[i].frames);
        free(r->threads[i].python);
    }
    r->count = 0;
    if (r->have_modules)
        remote_modules_close(&r->modules);
    r->have_modules = false;
}

void sfb_remote_close(struct sfb_remote *r)
{
    if (!r)
        return;
    forget_threads(r);
    for (size_t i = 0; r->batch && i < BATCH; i++)
        remote_thread_free(&r->batch[i]);
    free(r->batch);
    free(r->threads);
    remote_python_close(&r->python);
    remote_core_close(r->core);
    remote_memory_close(&r->memory);
    if (r->tasks >= 0)
        close(r->tasks);
    free(r);
}

static bool refresh_by(struct sfb_remote *r, pid_t tid)
{
    r->memory.pid = tid;
    return remote_memory_refresh(&r->memory) && r->memory.area_count > 0;
}

/*
 * Takes the mappings, by the process's own number; by a thread that lives if the first one has ended.
 *
 * @return false: errno says why not
 */
static bool refresh_memory(struct sfb_remote *r, const pid_t *tids, size_t count)
{
    int error;

    if (refresh_by(r, r->pid))
        return true;
    error = errno;
    for (size_t i = 0; i < count; i++)
        if (refresh_by(r, tids[i]))
            return true;
    r->memory.pid = r->pid;
    errno = error;
    return false;
}

/* The modules, as they are now: behind the first stacks, so that these have no code that is newer. */
static bool find_modules(struct sfb_remote *r, const pid_t *tids, size_t count,
                         struct sfb_remote_fault *fault)
{
    const char *cause = NULL;

    if (!r->have_modules)
        r->have_modules = remote_modules_open(&r->modules, r->memory.pid, &cause);
    /* The first thread may have ended since the mappings were read. */
    if (!r->have_modules && refresh_memory(r, tids, count))
        r->have_modules = remote_modules_open(&r->modules, r->memory.pid, &cause);
    /* Or all of them. */
    return r->have_modules || (!remote_access_fault(fault, r->pid) && fail(fault, cause));
}

/* @return false: no memory */
static bool keep(struct sfb_remote *r, const struct sfb_remote_thread *thread)
{
    if (!array_make_room(&r->threads, r->count, &r->room, sizeof *r->threads)) {
        free(thread->frames);
        free(thread->python);
        return false;
    }
    r->threads[r->count++] = *thread;
    return true;
}

static bool are_valid(uint32_t flags)
{
    const uint32_t known = SFB_REMOTE_NO_STOP | SFB_REMOTE_CONSISTENT;

    return !(flags & ~known) && flags != known;
}

static struct remote_source source_of(struct sfb_remote *r, const struct sfb_remote_options *how)
{
    bool nested;

    remote_task_own_number(&nested, r->tasks, r->memory.pid);
    return (struct remote_source){ .nested = nested,
                                   .pid = r->pid,
                                   .tasks = r->tasks,
                                   .memory = &r->memory,
                                   .modules = &r->modules.policy,
                                   .may_stop = !(how->flags & SFB_REMOTE_NO_STOP),
                                   .max_frames = how->max_frames ? how->max_frames : FRAMES_MAX };
}

static bool read_batch(struct sfb_remote *r, const struct sfb_remote_options *how,
                       const pid_t *tids, size_t count, struct sfb_remote_fault *fault)
{
    const struct remote_source from = source_of(r, how);

    for (size_t i = 0; i < count; i++)
        remote_thread_look(&r->batch[i], &from, tids[i]);
    if (!find_modules(r, tids, count, fault))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct sfb_remote_thread shown;

        if (!remote_thread_walk(&shown, &r->batch[i], &from))
            continue;
        if (!keep(r, &shown))
            return fail(fault, strerror(ENOMEM));
    }
    return true;
}

static bool read_all(struct sfb_remote *r, const struct sfb_remote_options *how, const pid_t *tids,
                     size_t count, struct sfb_remote_fault *fault)
{
    for (size_t at = 0; at < count; at += BATCH)
        if (!read_batch(r, how, tids + at, count - at < BATCH ? count - at : BATCH, fault))
            return false;
    return true;
}

static bool read_core(struct sfb_remote *r, const struct sfb_remote_options *how,
                      struct sfb_remote_fault *fault)
{
    const struct remote_core_notes *notes = &r->core->notes;
    /* Each frame has a word of its own in the core, unless threads share a stack, which none do. */
    size_t left = (size_t)(r->core->file.size / sizeof(uint64_t)) + notes->thread_count;
    const size_t most = how->max_frames ? how->max_frames : FRAMES_MAX;

    for (size_t i = 0; i < notes->thread_count; i++) {
        struct sfb_remote_thread thread;

        if (how->tid != 0 && how->tid != notes->threads[i].tid)
            continue;
        remote_core_thread(&thread, r->core, i, left < most ? left : most);
        left -= thread.frame_count;
        if (!keep(r, &thread))
            return fail(fault, strerror(ENOMEM));
    }
    return r->count > 0 || fail(fault, "it has no such thread");
}

static bool walk_crowd(struct sfb_remote *r, const struct sfb_remote_options *how,
                       struct remote_crowd *crowd, const struct remote_source *from,
                       struct sfb_remote_fault *fault)
{
    for (size_t i = 0; i < crowd->count; i++) {
        struct remote_thread *t = &crowd->members[i].thread;
        struct sfb_remote_thread shown;

        if ((how->tid != 0 && how->tid != t->look.tid) || !remote_thread_walk_copy(&shown, t, from))
            continue;
        if (!keep(r, &shown))
            return fail(fault, strerror(ENOMEM));
    }
    return true;
}

static bool read_at_once(struct sfb_remote *r, const struct sfb_remote_options *how,
                         const pid_t *tids, size_t count, struct sfb_remote_fault *fault)
{
    const struct remote_source from = source_of(r, how);
    struct remote_crowd crowd = { .count = 0 };
    bool good = remote_crowd_read(&crowd, &from) || fail_by_error(fault, r->pid, errno);

    good = good && find_modules(r, tids, count, fault) && walk_crowd(r, how, &crowd, &from, fault);
    remote_crowd_free(&crowd);
    return good;
}

/* Its number is the highest where the kernel's numbers began again after it. */
static void put_first_thread_first(struct sfb_remote *r)
{
    for (size_t i = 1; i < r->count; i++)
        if (r->threads[i].tid == r->pid) {
            const struct sfb_remote_thread first = r->threads[i];

            memmove(&r->threads[1], &r->threads[0], i * sizeof first);
            r->threads[0] = first;
            return;
        }
}

bool sfb_remote_read(struct sfb_remote *r, const struct sfb_remote_options *options,
                     struct sfb_remote_fault *fault)
{
    struct sfb_remote_options how = { .size = sizeof how };
    pid_t *tids = NULL;
    ssize_t count;
    bool good;

    if ((options && sfb_sized_read(&how, sizeof how, options) != SFB_OK) || !are_valid(how.flags))
        return fail(fault, "the options are not valid");
    forget_threads(r);
    if (r->core)
        return read_core(r, &how, fault);
    count = remote_task_list(&tids, r->tasks);
    if (count < 0)
        return fail_by_error(fault, r->pid, errno);
    if (!refresh_memory(r, tids, (size_t)count)) {
        const int error = errno;

        free(tids);
        return fail_by_error(fault, r->pid, error);
    }
    r->memory.python = &r->python;
    if (!remote_python_find_in(&r->python, r->memory.pid, r->tasks))
        good = fail(fault, strerror(ENOMEM));
    else if (how.flags & SFB_REMOTE_CONSISTENT)
        good = read_at_once(r, &how, tids, (size_t)count, fault);
    else
        good = read_all(r, &how, how.tid ? &how.tid : tids, how.tid ? 1 : (size_t)count, fault);
    free(tids);
    put_first_thread_first(r);
    if (good && r->count == 0)
        return how.tid ? fail(fault, "it has no such thread") : fail_by_error(fault, r->pid, ESRCH);
    return good;
}

const struct sfb_remote_thread *sfb_remote_threads(const struct sfb_remote *r, size_t *count)
{
    *count = r->count;
    return r->threads;
}

size_t sfb_remote_memory_read(const struct sfb_remote *r, uint64_t address, void *out, size_t size)
{
    if (r->core)
        return remote_core_space_read(&r->core->space, address, out, size);
    return remote_memory_read(r->memory.pid, address, out, size);
}

const char *sfb_remote_interpreter(const struct sfb_remote *r, const char **why)
{
    const struct remote_python *python = r->core ? &r->core->python : &r->python;

    *why = python->why;
    return python->what[0] ? python->what : NULL;
}

pid_t sfb_remote_memory_pid(const struct sfb_remote *r)
{
    return r->memory.pid;
}

const struct sfb_remote_core *sfb_remote_core_of(const struct sfb_remote *r)
{
    return r->core ? &r->core->facts : NULL;
}

const struct sfb_remote_module *sfb_remote_modules(const struct sfb_remote *r, size_t *count)
{
    *count = r->core ? r->core->space.maps.module_count : 0;
    return r->core ? r->core->space.facts : NULL;
}

uint64_t sfb_remote_frame_lookup(const struct sfb_remote_thread *t, size_t i)
{
    const bool trampoline = i + 1 < t->frame_count && t->frames[i + 1].kind == SFB_FRAME_PC;
    const bool before = t->frames[i].kind == SFB_FRAME_RA && !trampoline;

    return t->frames[i].address - (before && t->frames[i].address > 0);
}
