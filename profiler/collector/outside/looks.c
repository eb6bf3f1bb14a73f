#include "profiler/collector/outside/looks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/outside_samples.h"
#include "remote/access_fault.h"
#include "remote/halt.h"
#include "remote/thread_look.h"
#include "remote/thread_stop.h"
#include "util/fnv.h"

enum { COPY = 64 << 10, TEXT = 128, MAPS_PART = 64 << 10 };

static const uint64_t second_ns = 1000000000;

struct look_thread {
    pid_t tid;
    int run;          /* descriptor of its schedstat */
    uint64_t cpu;     /* when it was read last */
    uint64_t sampled; /* CPU time that samples have, or that was before */
    bool seen;
};

struct look_process {
    pid_t pid;
    int tasks; /* descriptor of /proc/PID/task */
    struct remote_memory memory;
    REPORT_ARRAY(struct look_thread) threads;
    uint64_t maps;   /* hash of its map */
    uint64_t listed; /* when threads and map were read */
    bool seen;
};

struct looks {
    struct outside *outside;
    REPORT_ARRAY(struct look_process *) processes;
    struct remote_look look; /* its room is used again */
    uint64_t stops;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

struct looks *looks_open(struct outside *outside)
{
    struct looks *l = calloc(1, sizeof *l);

    if (l)
        l->outside = outside;
    return l;
}

bool looks_may(pid_t pid)
{
    struct sfb_remote_fault fault;

    return !remote_access_fault(&fault, pid);
}

uint64_t looks_stops(const struct looks *l)
{
    return l->stops;
}

/* --- Threads -------------------------------------------------------------------------------------------- */

/* @return CPU time in ns; 0: it has ended */
static uint64_t read_cpu(int run)
{
    char text[TEXT];
    const ssize_t size = pread(run, text, sizeof text - 1, 0);

    if (size <= 0)
        return 0;
    text[size] = '\0';
    return strtoull(text, NULL, 10);
}

static bool add_thread(struct look_process *p, pid_t tid, bool is_new)
{
    struct look_thread *t = REPORT_NEXT(p->threads);
    char path[32];

    if (!t)
        return false;
    snprintf(path, sizeof path, "%d/schedstat", (int)tid);
    t->tid = tid;
    t->run = openat(p->tasks, path, O_RDONLY | O_CLOEXEC);
    t->seen = true;
    if (t->run < 0) {
        p->threads.count--;
        return errno != EMFILE && errno != ENFILE;
    }
    t->cpu = read_cpu(t->run);
    t->sampled = is_new ? 0 : t->cpu;
    return true;
}

static struct look_thread *find_thread(struct look_process *p, pid_t tid)
{
    for (size_t i = 0; i < p->threads.count; i++)
        if (p->threads.at[i].tid == tid)
            return &p->threads.at[i];
    return NULL;
}

static void forget_unseen(struct look_process *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->threads.count; i++)
        if (p->threads.at[i].seen)
            p->threads.at[kept++] = p->threads.at[i];
        else
            close(p->threads.at[i].run);
    p->threads.count = kept;
}

/* @return false: no memory, or no descriptor */
static bool list_threads(struct look_process *p, bool is_new)
{
    pid_t *tids = NULL;
    const ssize_t count = remote_task_list(&tids, p->tasks);
    bool good = true;

    for (size_t i = 0; i < p->threads.count; i++)
        p->threads.at[i].seen = false;
    for (ssize_t i = 0; good && i < count; i++) {
        struct look_thread *known = find_thread(p, tids[i]);

        if (known)
            known->seen = true;
        else
            good = add_thread(p, tids[i], is_new);
    }
    free(tids);
    forget_unseen(p);
    return good;
}

/* --- Processes ------------------------------------------------------------------------------------------ */

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

static void free_process(struct look_process *p)
{
    for (size_t i = 0; i < p->threads.count; i++)
        close(p->threads.at[i].run);
    free(p->threads.at);
    remote_memory_close(&p->memory);
    if (p->tasks >= 0)
        close(p->tasks);
    free(p);
}

/* What is mapped, and which threads there are, is read anew each second. */
static bool refresh(struct looks *l, struct look_process *p, uint64_t now)
{
    const uint64_t maps = hash_of_maps(p->pid);

    p->listed = now;
    if (maps == 0 || !remote_memory_refresh(&p->memory))
        return true;
    if (maps != p->maps)
        attach_introduce(l->outside, p->pid, now);
    p->maps = maps;
    return list_threads(p, true);
}

static bool add_process(struct looks *l, pid_t pid, uint64_t now)
{
    struct look_process *p = calloc(1, sizeof *p), **next;
    char path[32];

    if (!p || !remote_memory_open(&p->memory, pid)) {
        free(p);
        return false;
    }
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    p->pid = pid;
    p->seen = true;
    p->tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    next = p->tasks >= 0 ? REPORT_NEXT(l->processes) : NULL;
    if (!next) {
        const bool gone = p->tasks < 0;

        free_process(p);
        return gone;
    }
    *next = p;
    attach_introduce(l->outside, pid, now);
    p->maps = hash_of_maps(pid);
    p->listed = now;
    remote_memory_refresh(&p->memory);
    return list_threads(p, false);
}

static struct look_process *find_process(struct looks *l, pid_t pid)
{
    for (size_t i = 0; i < l->processes.count; i++)
        if (l->processes.at[i]->pid == pid)
            return l->processes.at[i];
    return NULL;
}

bool looks_set(struct looks *l, const pid_t *pids, size_t count, uint64_t now)
{
    size_t kept = 0;
    bool good = true;

    for (size_t i = 0; i < l->processes.count; i++)
        l->processes.at[i]->seen = false;
    for (size_t i = 0; good && i < count; i++) {
        struct look_process *known = find_process(l, pids[i]);

        if (known)
            known->seen = true;
        else if (looks_may(pids[i]))
            good = add_process(l, pids[i], now);
    }
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        if (p->seen) {
            l->processes.at[kept++] = p;
            continue;
        }
        outside_gone(l->outside, (uint32_t)p->pid, now);
        free_process(p);
    }
    l->processes.count = kept;
    return good;
}

/* --- Looks ---------------------------------------------------------------------------------------------- */

static bool look(struct looks *l, struct look_process *p, struct look_thread *t)
{
    const struct remote_wanted wanted = { .most = COPY };
    struct sfb_copied_stack stack = { .size = 0 };
    const char *cause;
    uint64_t weight;

    if (remote_look_stopped(&l->look, &p->memory, p->tasks, t->tid, &wanted, false, &cause) !=
        REMOTE_LOOK_DONE)
        return true;
    l->stops++;
    t->cpu = read_cpu(t->run);
    weight = t->cpu > t->sampled ? t->cpu - t->sampled : 0;
    if (weight == 0)
        return true;
    t->sampled = t->cpu;
    stack.registers = l->look.registers;
    stack.address = l->look.stack[0].at;
    stack.bytes = l->look.stack[0].bytes;
    stack.size = l->look.stack[0].size;
    stack.whole = stack.size < COPY;
    return outside_take_stack(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, now_ns(), weight,
                              &stack);
}

/* Whether it runs now, of one that has run since it was asked last. */
static bool runs(const struct look_process *p, struct look_thread *t)
{
    const uint64_t cpu = read_cpu(t->run);
    struct remote_task_stat stat;

    if (cpu == t->cpu)
        return false;
    t->cpu = cpu;
    return remote_task_stat_read(&stat, p->tasks, t->tid) && stat.state == 'R';
}

bool looks_take(struct looks *l)
{
    const uint64_t now = now_ns();

    remote_halts_settle();
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        if (now - p->listed > second_ns && !refresh(l, p, now))
            return false;
        for (size_t k = 0; k < p->threads.count; k++)
            if (runs(p, &p->threads.at[k]) && !look(l, p, &p->threads.at[k]))
                return false;
    }
    return true;
}

void looks_close(struct looks *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->processes.count; i++)
        free_process(l->processes.at[i]);
    free(l->processes.at);
    remote_look_free(&l->look);
    free(l);
}
