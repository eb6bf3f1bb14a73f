#include "profiler/collector/outside/look_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/look_events.h"
#include "profiler/collector/outside/look_threads.h"
#include "profiler/collector/outside/look_waits.h"
#include "profiler/collector/outside/outside.h"
#include "profiler/collector/processes/tasks.h"
#include "remote/access_fault.h"
#include "util/fnv.h"

enum { MAPS_PART = 64 << 10, PASSES = 4 };

static const uint64_t second_ns = 1000000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

/* @return a number for what is mapped; 0: it has ended */
static uint64_t hash_of_maps(pid_t pid)
{
    static char part[MAPS_PART];
    uint64_t hash = SFB_FNV_START;
    char path[32];
    ssize_t size;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while ((size = read(fd, part, sizeof part)) > 0)
        hash = sfb_fnv(hash, part, (size_t)size);
    close(fd);
    return hash;
}

void look_process_free(struct looks *l, struct look_process *p)
{
    look_threads_close(l, p);
    free(p->threads.at);
    remote_python_close(&p->python);
    remote_memory_close(&p->memory);
    look_mappings_free(&p->mappings);
    if (p->tasks >= 0) {
        close(p->tasks);
        l->files--;
    }
    free(p);
}

/* @return false: it has no memory any more */
static bool read_memory(struct look_process *p)
{
    p->memory.pid = attach_live_task(p->pid);
    if (p->python.heap)
        p->python.heap->pid = p->memory.pid;
    return remote_memory_refresh(&p->memory);
}

/* Looks for an interpreter in what is mapped now. @return false: no memory */
static bool find_python(struct look_process *p)
{
    p->memory.python = &p->python;
    return remote_python_find_in(&p->python, p->memory.pid, p->tasks);
}

/* Looks at what is mapped now, if that has changed. @return false: no memory */
static bool read_maps(struct looks *l, struct look_process *p)
{
    const uint64_t maps = hash_of_maps(p->memory.pid);
    const bool introduced =
        maps == 0 || maps == p->maps || attach_introduce_files(l->outside, p->pid);

    if (maps != 0 && maps != p->maps && !find_python(p))
        return false;
    if (maps != p->maps)
        look_mappings_forget(&p->mappings);
    p->maps = introduced ? maps : 0; /* it is read again */
    return true;
}

static void begin_list(struct look_process *p, uint64_t now)
{
    if (!p->partial)
        p->listed_before = p->threads_listed;
    p->threads_listed = now;
    p->partial = true;
}

/* What is mapped, and which threads there are, is read anew each second. */
bool look_process_list(struct looks *l, struct look_process *p, uint64_t now)
{
    begin_list(p, now);
    p->listed = now;
    return !read_memory(p) || (read_maps(l, p) && look_threads_list(l, p, true));
}

bool look_process_list_threads(struct looks *l, struct look_process *p, uint64_t now)
{
    begin_list(p, now);
    return look_threads_list(l, p, true);
}

bool look_maps_anew(struct looks *l, struct look_process *p, bool *changed)
{
    const uint64_t now = now_ns(), before = p->maps, ms = second_ns / 1000;

    *changed = false;
    if (now - p->maps_asked < p->maps_pause)
        return true;
    p->maps_asked = now;
    if (read_memory(p) && !read_maps(l, p))
        return false;
    *changed = p->maps != before;
    p->maps_pause = *changed ? 0 : 2 * p->maps_pause + ms;
    if (p->maps_pause > second_ns / 5)
        p->maps_pause = second_ns / 5;
    return true;
}

/* The hash is read first: what is mapped meanwhile makes another one, and is found. */
static void begin_maps(struct looks *l, struct look_process *p, uint64_t now)
{
    if (read_memory(p))
        p->maps = hash_of_maps(p->memory.pid);
    p->maps_asked = p->maps_pause = 0;
    if (!attach_introduce(l->outside, p->pid, now))
        p->maps = 0;
}

/*
 * The thread executes another program. If it was not the process's first one, it has that one's number now, and clocks and events
 * by that number are of a thread that has ended.
 */
static void begin_again(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    look_thread_read(p, t);
    if (!l->waits) {
        t->sampled = t->sampled < t->cpu ? t->sampled : t->cpu;
        return;
    }
    look_events_end(l, t);
    look_events_begin(l, t);
    look_wait_begin(p, t, 0);
    if (!t->wait.late)
        t->sampled = t->found = t->wait.run.cpu_time;
}

/* The process has executed another program. */
void look_process_replace(struct looks *l, struct look_process *p,
                          const struct remote_task_image *image, uint64_t now)
{
    p->image = *image;
    for (size_t i = 0; l->waits && i < p->threads.count; i++)
        look_wait_end(l, p, &p->threads.at[i]);
    /* The program before has the rest of its CPU time, of threads that end with it as well. */
    for (size_t i = 0; !l->waits && i < p->threads.count; i++)
        p->threads.at[i].sampled = p->threads.at[i].cpu;
    outside_replaced(l->outside, (uint32_t)p->pid, now);
    begin_maps(l, p, now);
    for (size_t i = 0; i < p->threads.count; i++)
        begin_again(l, p, &p->threads.at[i]);
    look_mappings_forget(&p->mappings);
    remote_python_close(&p->python);
    p->python = (struct remote_python){ .fits = false };
    if (!find_python(p))
        p->maps = 0; /* no memory: it is looked for again */
}

/* @return ns that it takes to read so many threads, if nothing comes between */
uint64_t look_pass_ns(size_t count)
{
    return 1000000 + (uint64_t)count * 20000;
}

/* The time of all threads begins at one moment, as it ends. */
static void begin_all(struct look_process *p, bool is_new)
{
    for (unsigned i = 0; i < PASSES; i++) {
        const uint64_t before = now_ns();

        for (size_t k = 0; k < p->threads.count; k++)
            look_wait_begin(p, &p->threads.at[k],
                            is_new ? look_thread_begun(p, &p->threads.at[k]) : 0);
        if (now_ns() - before < look_pass_ns(p->threads.count))
            break;
    }
}

/* The program that was started for this, for one. A tick is long: a process of the tick that the recording began in has come since if the first list has not got it. */
static bool has_come(const struct looks *l, const struct look_process *p)
{
    return p->pid == l->starts || p->started > l->begun || (p->started == l->begun && l->listed);
}

/* Its threads were listed. @return false: no memory */
static bool begin_process(struct looks *l, struct look_process *p, uint64_t now)
{
    begin_maps(l, p, now);
    if (has_come(l, p))
        outside_from_birth(l->outside, (uint32_t)p->pid);
    /* Its recording begins now, also of threads that have come since it was listed. */
    if (!look_threads_list(l, p, false))
        return false;
    for (size_t i = 0; i < p->threads.count; i++)
        if (look_thread_read(p, &p->threads.at[i]))
            p->threads.at[i].sampled = p->threads.at[i].found = p->threads.at[i].cpu;
    if (!find_python(p))
        return false;
    if (l->waits)
        begin_all(p, has_come(l, p) && !l->paused);
    return true;
}

static bool lacks_descriptor(void)
{
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

/*
 * @param since    CLOCK_MONOTONIC: it had not come by then; 0: unknown
 * @param skipped  written: it lives, and there is no descriptor for it
 * @return false: no memory
 */
static bool add_process(struct looks *l, pid_t pid, uint64_t since, uint64_t now, bool *skipped)
{
    struct look_process *p = calloc(1, sizeof *p), **next;
    struct remote_task_stat stat;
    char path[32];

    if (!p || !remote_memory_open(&p->memory, pid)) {
        free(p);
        return false;
    }
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    p->pid = pid;
    p->seen = true;
    errno = 0;
    p->tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    l->files += p->tasks >= 0;
    if (p->tasks < 0 || !remote_task_stat_read(&stat, p->tasks, pid)) {
        *skipped = lacks_descriptor();
        look_process_free(l, p);
        return true;
    }
    p->started = stat.started;
    p->image = stat.image;
    p->listed = p->threads_listed = now;
    p->is_started = pid == l->starts;
    p->listed_before = p->is_started ? l->starts_at : since;
    if (p->listed_before < l->resumed)
        p->listed_before = l->resumed;
    next = look_threads_list(l, p, false) && !p->partial ? REPORT_NEXT(l->processes) : NULL;
    if (!next) {
        *skipped = p->partial;
        look_threads_drop(l, p);
        look_process_free(l, p);
        return *skipped;
    }
    *next = p;
    sfb_recorder_process_reaped(pid, &p->reaped);
    return begin_process(l, p, now);
}

/*
 * @param skipped  counts it if it lives, and there is no descriptor for it
 * @return false: no memory
 */
static bool add_new(struct looks *l, pid_t pid, uint64_t since, uint64_t now, uint64_t *skipped)
{
    struct sfb_remote_fault fault;
    bool good = true, lacks;

    if (l->files >= l->limit)
        look_threads_release(l);
    lacks = l->files >= l->limit;
    if (remote_access_fault(&fault, attach_live_task(pid)))
        lacks = lacks_descriptor();
    else
        good = lacks || add_process(l, pid, since, now, &lacks);
    *skipped += lacks;
    return good;
}

/* A pid may have come again. It lives on where that cannot be read: without a descriptor. */
static bool is_same(const struct look_process *p)
{
    struct remote_task_stat stat;

    errno = ESRCH;
    if (remote_task_stat_read(&stat, p->tasks, p->pid))
        return stat.started == p->started;
    return !remote_task_has_ended(errno);
}

/* Processes without a mark have ended. */
static void end_unseen(struct looks *l, uint64_t now)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        if (p->seen) {
            l->processes.at[kept++] = p;
            continue;
        }
        look_threads_close(l, p);
        outside_gone(l->outside, (uint32_t)p->pid, now);
        look_process_free(l, p);
    }
    l->processes.count = kept;
}

bool look_processes_set(struct looks *l, const pid_t *pids, size_t count, bool whole, uint64_t now)
{
    uint64_t skipped = 0;
    bool good = true;

    for (size_t i = 0; i < l->processes.count; i++)
        l->processes.at[i]->seen = !whole && is_same(l->processes.at[i]);
    for (size_t i = 0; i < count; i++) {
        struct look_process *known = look_process_of(l, pids[i]);

        if (known)
            known->seen = is_same(known);
    }
    end_unseen(l, now);
    for (size_t i = 0; good && i < count; i++)
        if (!look_process_of(l, pids[i]))
            good = add_new(l, pids[i], 0, now, &skipped);
    l->listed = true;
    if (skipped > l->skipped)
        l->skipped = skipped;
    return good;
}

static void end_one(struct looks *l, const struct look_process *ended, uint64_t now)
{
    for (size_t i = 0; i < l->processes.count; i++)
        l->processes.at[i]->seen = l->processes.at[i] != ended;
    end_unseen(l, now);
}

/* A process that has ended while it was introduced has no module, and what little is known of it would be in the recording without a place. */
static void drop_if_ended(struct looks *l, pid_t pid, uint64_t now)
{
    struct look_process *p = look_process_of(l, pid);

    if (!p || p->maps != 0 || !sfb_recorder_task_has_ended(pid))
        return;
    look_threads_drop(l, p);
    end_one(l, p, now);
}

bool look_processes_add(struct looks *l, pid_t pid, uint64_t since, uint64_t now)
{
    struct look_process *known = look_process_of(l, pid);
    uint64_t skipped = 0;
    bool good;

    if (known && is_same(known))
        return true;
    if (known)
        end_one(l, known, now);
    good = add_new(l, pid, since, now, &skipped);
    drop_if_ended(l, pid, now);
    if (skipped > l->skipped)
        l->skipped = skipped;
    return good;
}

size_t look_processes_forget_ended(struct looks *l, uint64_t now)
{
    size_t found = 0, count;
    bool due = false;

    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        p->seen = !p->ended; /* since the last call its last records were taken */
        due |= p->ended;
        p->ended = !remote_task_count(&count, p->tasks);
        found += p->seen && p->ended;
    }
    if (due)
        end_unseen(l, now);
    return found;
}

uint64_t look_processes_reaped(struct looks *l)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];
        const uint64_t before = p->reaped;

        if (sfb_recorder_process_reaped(p->pid, &p->reaped) && p->reaped > before)
            sum += p->reaped - before;
    }
    return sum;
}
