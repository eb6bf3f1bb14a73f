#include "profiler/collector/outside/look_cpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 4096 };

/* What this thread waits for a CPU at most where it takes one from a running thread. */
static const uint64_t moment_ns = 50000;

/*
 * CPU time of a thread that was never found on another CPU: then there may be no other one. After more of it the thread is
 * sampled wherever it is.
 */
static const uint64_t elsewhere_most_ns = 100000000, unseen_most_ns = 250000000;

/* @param path  in the folder of tasks, or an absolute one. @return false: it is not there */
static bool read_file(char *text, int tasks, const char *path)
{
    const int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd >= 0 ? read(fd, text, TEXT_MAX - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static uint64_t number_of(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

/* --- The thread that looks ------------------------------------------------------------------------------ */

/* @return ns that it has waited for a CPU; 0: not known */
static uint64_t own_waited(const struct looks *l)
{
    struct remote_task_run run;

    return look_run_parse(&run, l->own_run) ? run.waited : 0;
}

/*
 * When the scheduler last added to a thread's time, by its own clock: in a switch it does so for the thread that leaves, and
 * begins with the one that comes, at the same moment. With CONFIG_SCHED_DEBUG, as Debian has it.
 *
 * @return in ns; 0: not known
 */
static uint64_t accounted_at(int tasks, const char *path)
{
    char text[TEXT_MAX], *at;
    uint64_t ms;

    if (!read_file(text, tasks, path))
        return 0;
    at = strstr(text, "\nse.exec_start");
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return 0;
    ms = strtoull(at + 1, &at, 10);
    return ms * 1000000 + (*at == '.' ? strtoull(at + 1, NULL, 10) : 0);
}

void look_cpu_open(struct looks *l)
{
    l->own_run = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    look_cpu_round_end(l);
}

void look_cpu_round_begin(struct looks *l)
{
    const bool late = own_waited(l) - l->own_waited > moment_ns;

    l->came_at = late ? 0 : accounted_at(AT_FDCWD, "/proc/thread-self/sched");
}

void look_cpu_round_end(struct looks *l)
{
    l->own_waited = own_waited(l);
}

void look_cpu_close(struct looks *l)
{
    if (l->own_run >= 0)
        close(l->own_run);
}

/* --- Others --------------------------------------------------------------------------------------------- */

/*
 * The thread was on the CPU that the timer gave to this one. Where there are other CPUs such a place is no sample: the
 * scheduler lets a thread that has just come run on for a while, and this one waits.
 */
static bool was_pushed_off(const struct looks *l, const struct look_process *p,
                           const struct look_thread *t)
{
    char path[32];

    snprintf(path, sizeof path, "%d/sched", (int)t->tid);
    return l->came_at != 0 && accounted_at(p->tasks, path) == l->came_at;
}

/*
 * The difference of the counts, less that of the thread off a CPU. The kernel misses few turns of a thread in its life: what the
 * difference is off a CPU is learned.
 */
static int64_t above_base(struct look_thread *t, const char *status)
{
    const int64_t left = (int64_t)(number_of(status, "\nvoluntary_ctxt_switches:") +
                                   number_of(status, "\nnonvoluntary_ctxt_switches:"));
    const int64_t difference = (int64_t)t->turns - left;

    /* It has run since the last look, and got no CPU since: it was on one then. */
    if (t->turns == t->looked_turns && t->cpu > t->looked_cpu)
        t->base = t->looked_difference - 1;
    if (!strstr(status, "\nState:\tR") || difference < t->base)
        t->base = difference;
    else if (difference > t->base + 1)
        t->base = difference - 1;
    t->looked_turns = t->turns;
    t->looked_cpu = t->cpu;
    t->looked_difference = difference;
    return difference - t->base;
}

enum look_cpu look_cpu_find(const struct looks *l, const struct look_process *p,
                            struct look_thread *t)
{
    const uint64_t turns = t->turns;
    char path[32], status[TEXT_MAX];
    struct remote_task_run run;

    snprintf(path, sizeof path, "%d/status", (int)t->tid);
    if (turns == 0 || !read_file(status, p->tasks, path) ||
        !strstr(status, "\nnonvoluntary_ctxt_switches:"))
        return LOOK_ON_CPU;
    if (!look_run_read(&run, p, t) || run.turns != turns) /* it has just got a CPU */
        return LOOK_QUEUED;
    if (above_base(t, status) > 0) {
        t->found = t->cpu;
        return LOOK_ON_CPU;
    }
    if (t->cpu > t->found + elsewhere_most_ns && was_pushed_off(l, p, t))
        return LOOK_ON_CPU;
    return t->cpu < t->sampled + unseen_most_ns ? LOOK_QUEUED : LOOK_ON_CPU;
}
