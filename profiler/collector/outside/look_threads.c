#include "profiler/collector/outside/look_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/look_events.h"
#include "profiler/collector/outside/look_waits.h"
#include "profiler/collector/outside/outside.h"

enum { HINTS = 1 << 16, RELEASED = 64 /* descriptors at once: each time all threads are passed */ };

/* Where threads were found last, by their numbers: indices. Or that a thread was not found among so many that had been added. */
static struct hint {
    uint32_t process, thread;
    pid_t missing;
    uint32_t added;
} hints[HINTS];

static uint32_t threads_added;

static const uint64_t second_ns = 1000000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

bool look_thread_read(const struct look_process *p, struct look_thread *t)
{
    struct remote_task_run run;

    if (!look_run_read(&run, p, t))
        return false;
    t->cpu = run.cpu_time;
    t->turns = run.turns;
    return true;
}

/*
 * When a thread began that was not there at the last list. The kernel says the tick (10 ms): it is the middle of what that, the list, and
 * the time that the thread ran and waited for a CPU leave, so that of many threads neither too much nor too little is counted.
 *
 * @return CLOCK_MONOTONIC
 */
uint64_t look_thread_begun(const struct look_process *p, const struct look_thread *t)
{
    const uint64_t tick_ns = second_ns / (uint64_t)sysconf(_SC_CLK_TCK);
    struct remote_task_stat stat;
    struct remote_task_run run;
    struct timespec boot;
    uint64_t now, age, tick, first, last;

    if (!remote_task_stat_read(&stat, p->tasks, t->tid) || !look_run_read(&run, p, t))
        return now_ns();
    clock_gettime(CLOCK_BOOTTIME, &boot);
    now = now_ns();
    age = (uint64_t)boot.tv_sec * second_ns + (uint64_t)boot.tv_nsec;
    age = age > stat.started * tick_ns ? age - stat.started * tick_ns : 0;
    tick = age < now ? now - age : 0;
    first = tick > p->listed_before ? tick : p->listed_before;
    /* The program that was started for this: not before, nor after. */
    if (p->is_started && t->tid == p->pid && first == p->listed_before)
        return first;
    last = run.cpu_time + run.waited < now - first ? now - run.cpu_time - run.waited : first;
    if (last > tick + tick_ns)
        last = tick + tick_ns;
    return last > first ? first + (last - first) / 2 : first;
}

static void close_run(struct looks *l, struct look_thread *t)
{
    if (t->run < 0)
        return;
    close(t->run);
    t->run = -1;
    l->files--;
}

void look_threads_release(struct looks *l)
{
    size_t left = RELEASED;

    for (size_t i = 0; left > 0 && i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        for (size_t k = 0; left > 0 && k < p->threads.count; k++) {
            left -= p->threads.at[k].run >= 0;
            close_run(l, &p->threads.at[k]);
        }
    }
}

/* Half of the descriptors are for threads, until processes need them; of more threads the file is opened each time. */
static bool add_thread(struct looks *l, struct look_process *p, pid_t tid, bool is_new)
{
    struct look_thread *t = REPORT_NEXT(p->threads);

    if (!t)
        return false;
    threads_added++;
    t->tid = tid;
    t->run = l->files < l->limit / 2 ? look_run_open(p, tid) : -1;
    t->seen = true;
    l->files += t->run >= 0;
    if (!look_thread_read(p, t) && !remote_task_has_ended(errno)) {
        close_run(l, t);
        p->partial = true;
        p->threads.count--;
        return true;
    }
    t->sampled = is_new && !l->paused ? 0 : t->cpu;
    t->found = t->sampled;
    look_events_begin(l, t);
    if (l->waits)
        look_wait_begin(p, t, is_new && !l->paused ? look_thread_begun(p, t) : 0);
    return true;
}

/* @param first  where it is looked for first: lists are in the same order, less the ended ones */
static struct look_thread *find_thread(struct look_process *p, pid_t tid, size_t first)
{
    for (size_t i = 0; i < p->threads.count; i++) {
        struct look_thread *t = &p->threads.at[(first + i) % p->threads.count];

        if (t->tid == tid)
            return t;
    }
    return NULL;
}

/* As find_thread(), of threads that are in the order of their numbers. @param next  where the last one was; written */
static struct look_thread *find_in_order(struct look_process *p, size_t count, pid_t tid,
                                         size_t *next)
{
    while (*next < count && p->threads.at[*next].tid < tid)
        ++*next;
    return *next < count && p->threads.at[*next].tid == tid ? &p->threads.at[*next] : NULL;
}

/* The kernel goes on with a list by the place of a thread that has ended meanwhile: it may leave out one that lives. */
static bool is_there(const struct look_process *p, pid_t tid)
{
    char name[16];

    snprintf(name, sizeof name, "%d", (int)tid);
    return faccessat(p->tasks, name, F_OK, 0) == 0;
}

static void close_thread(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    if (l->waits)
        look_wait_end(l, p, t);
    else if (t->cpu > t->sampled)
        outside_rest(l->outside, (uint32_t)p->pid, t->cpu - t->sampled);
    look_events_end(l, t);
    free(t->unsure.at);
    close_run(l, t);
}

/* Threads that are not in the last list have ended. Their last records were taken. */
void look_threads_forget(struct looks *l, struct look_process *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->threads.count; i++)
        if (p->threads.at[i].seen)
            p->threads.at[kept++] = p->threads.at[i];
        else
            close_thread(l, p, &p->threads.at[i]);
    p->threads.count = kept;
    p->gone = 0;
}

/* @return false: no memory */
bool look_threads_list(struct looks *l, struct look_process *p, bool is_new)
{
    pid_t *tids = NULL;
    const ssize_t count = remote_task_list(&tids, p->tasks);
    const size_t known_count = p->threads.count;
    bool good = true, ordered = true;
    size_t next = 0;

    p->partial = count < 0;
    if (count < 0) /* no descriptor: the known threads stay */
        return true;
    p->turned = false;
    for (size_t i = 0; i < known_count; i++) {
        p->threads.at[i].seen = false;
        ordered &= i == 0 || p->threads.at[i - 1].tid < p->threads.at[i].tid;
    }
    for (ssize_t i = 0; good && i < count; i++) {
        struct look_thread *known =
            ordered ? find_in_order(p, known_count, tids[i], &next) : find_thread(p, tids[i], next);

        if (i > 0 && tids[i] == tids[i - 1])
            continue;
        if (!known) {
            good = add_thread(l, p, tids[i], is_new);
            continue;
        }
        known->seen = true;
        next = (size_t)(known - p->threads.at) + 1;
    }
    p->gone = 0;
    for (size_t i = 0; i < known_count; i++) {
        struct look_thread *t = &p->threads.at[i];

        if (!t->seen)
            t->seen = count > 0 && is_there(p, t->tid);
        p->gone += !t->seen;
    }
    free(tids);
    return good;
}

void look_threads_drop(struct looks *l, struct look_process *p)
{
    for (size_t i = 0; i < p->threads.count; i++) {
        look_events_end(l, &p->threads.at[i]);
        free(p->threads.at[i].unsure.at);
        close_run(l, &p->threads.at[i]);
    }
    p->threads.count = p->gone = 0;
}

void look_threads_close(struct looks *l, struct look_process *p)
{
    for (size_t i = 0; i < p->threads.count; i++)
        close_thread(l, p, &p->threads.at[i]);
    p->threads.count = p->gone = 0;
}

/* Threads before it may have ended since it was there. */
static struct look_thread *find_before(struct look_process *p, pid_t tid, size_t last)
{
    const size_t count = p->threads.count;

    for (size_t i = 0; i < count; i++) {
        struct look_thread *t = &p->threads.at[(last % count + count - i) % count];

        if (t->tid == tid)
            return t;
    }
    return NULL;
}

struct look_thread *look_thread_find(const struct looks *l, pid_t pid, pid_t tid,
                                     struct look_process **process)
{
    struct hint *hint = &hints[(unsigned)tid % HINTS];

    if (hint->missing == tid && hint->added == threads_added)
        return NULL;
    if (hint->process < l->processes.count) {
        *process = l->processes.at[hint->process];
        if (hint->thread < (*process)->threads.count &&
            (*process)->threads.at[hint->thread].tid == tid && (pid == 0 || (*process)->pid == pid))
            return &(*process)->threads.at[hint->thread];
    }
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_thread *t;

        *process = l->processes.at[i];
        if (pid != 0 && (*process)->pid != pid)
            continue;
        t = find_before(*process, tid, hint->thread);
        if (!t)
            continue;
        *hint = (struct hint){ .process = (uint32_t)i,
                               .thread = (uint32_t)(t - (*process)->threads.at) };
        return t;
    }
    hint->missing = tid;
    hint->added = threads_added;
    return NULL;
}
