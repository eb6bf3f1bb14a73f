#include "profiler/collector/outside/arrivals.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/looks.h"
#include "profiler/collector/processes/tasks.h"
#include "remote/task_files.h"

/*
 * Shares of a CPU: 4 % for searches, 5 % for introductions, 1 % to judge numbers without a process. A number costs 5 to 15 us; an introduction
 * 0.5 ms, for which some of the last second's share is kept: programs start many processes at once.
 */
enum { SEARCH_COSTS = 25, NEW_COSTS = 20, JUDGE_COSTS = 100 };

enum { NUMBERS_MOST = 512 /* per search */, WAITING_MOST = 4096 };

static const uint64_t second_ns = 1000000000, search_least_ns = 10000000,
                      judge_least_ns = 100000000, at_once_ns = 10000000;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t own_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Its fifth word, of the reader's PID namespace: a process in a namespace below has a number in this one, too. @return 0: unknown */
static pid_t read_last(int file)
{
    char text[128];
    const ssize_t size = pread(file, text, sizeof text - 1, 0);
    const char *at;

    text[size > 0 ? size : 0] = '\0';
    at = strrchr(text, ' ');
    return at ? (pid_t)strtol(at + 1, NULL, 10) : 0;
}

/* lxcfs has a file of its own there, with numbers of another namespace. */
static bool is_of_proc(int file)
{
    struct statfs system;
    struct sfb_recorder_task own;

    return file >= 0 && fstatfs(file, &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
           sfb_recorder_task_read(&own, getpid()) && own.same;
}

void arrivals_open(struct arrivals *out)
{
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);

    *out = (struct arrivals){ .file = file, .read_at = now_ns() };
    if (is_of_proc(file) && (out->last = read_last(file)) > 0)
        return;
    if (file >= 0)
        close(file);
    out->file = -1;
}

bool arrivals_are_known(const struct arrivals *a)
{
    return a->file >= 0;
}

/* --- Searches ------------------------------------------------------------------------------------------- */

static bool is_waiting(const struct arrivals *a, pid_t pid)
{
    for (size_t i = 0; i < a->waiting.count; i++)
        if (a->waiting.at[i].pid == pid)
            return true;
    return false;
}

static bool is_wanted(const struct arrivals *a, const struct looks *looks,
                      const struct sfb_recorder_task *task, bool all)
{
    if (all)
        return geteuid() == 0 || task->user == geteuid();
    return looks_know(looks, task->parent) || is_waiting(a, task->parent);
}

/* @return false: no memory */
static bool add(struct arrivals *a, pid_t pid)
{
    struct arrival *next;

    if (a->waiting.count >= WAITING_MOST) {
        a->too_many = true;
        return true;
    }
    next = REPORT_NEXT(a->waiting);
    if (next)
        *next = (struct arrival){ .pid = pid,
                                  .since = a->read_at,
                                  .started = sfb_recorder_task_started(pid) };
    return next != NULL;
}

/*
 * @param may_come  a process gets its number before it can be seen: its creator may have lost the CPU in between
 * @return false: no memory
 */
static bool look_up(struct arrivals *a, const struct looks *looks, pid_t pid, bool all,
                    bool may_come)
{
    struct sfb_recorder_task task;

    errno = ESRCH;
    if (sfb_recorder_task_read(&task, pid))
        return task.group != pid || !is_wanted(a, looks, &task, all) || add(a, pid);
    if (!may_come && remote_task_has_ended(errno))
        a->passed++;
    else if (a->coming_count < ARRIVALS_COMING)
        a->coming[a->coming_count++] = pid;
    return true;
}

/* @return false: no memory */
static bool look_up_since(struct arrivals *a, const struct looks *looks, pid_t last, bool all)
{
    bool good = true;

    if (last < a->last) { /* they begin anew */
        a->too_many = true;
        return true;
    }
    if (last - a->last > NUMBERS_MOST) {
        a->too_many = true;
        a->passed += (uint64_t)(last - a->last);
        return true;
    }
    for (pid_t pid = a->last + 1; good && pid <= last; pid++)
        good = look_up(a, looks, pid, all, last - pid < ARRIVALS_COMING);
    return good;
}

/* @return false: no memory */
static bool search(struct arrivals *a, const struct looks *looks, bool all)
{
    const uint64_t now = now_ns(), before = own_cpu_ns();
    const pid_t last = read_last(a->file);
    const size_t count = a->coming_count;
    pid_t coming[ARRIVALS_COMING];
    bool good = true;

    if (last > 0 && (last != a->last || count > 0)) {
        memcpy(coming, a->coming, sizeof coming);
        a->coming_count = 0;
        for (size_t i = 0; good && i < count; i++)
            good = look_up(a, looks, coming[i], all, false);
        good = good && look_up_since(a, looks, last, all);
        a->last = last;
    }
    if (last > 0)
        a->read_at = now;
    a->search = now + larger((own_cpu_ns() - before) * SEARCH_COSTS, search_least_ns);
    return good;
}

/* --- Introductions -------------------------------------------------------------------------------------- */

static void count_unseen(struct arrivals *a, const struct looks *looks, uint64_t count)
{
    if (!looks_are_paused(looks))
        a->unseen += count;
}

/* Its number may be another process's by now. Where that cannot be read it is taken for the same one. */
static bool has_ended(const struct arrival *next)
{
    uint64_t started;

    if (sfb_recorder_task_has_ended(next->pid))
        return true;
    started = sfb_recorder_task_started(next->pid);
    return started != 0 && next->started != 0 && started != next->started;
}

/* @return false: no memory */
static bool introduce(struct arrivals *a, struct looks *looks, const struct arrival *next)
{
    bool good;

    if (has_ended(next)) {
        count_unseen(a, looks, 1);
        return true;
    }
    good = looks_add(looks, next->pid, next->since, now_ns());
    if (good && !looks_know(looks, next->pid) && sfb_recorder_task_has_ended(next->pid))
        count_unseen(a, looks, 1);
    return good;
}

/* The oldest first: what has ended by then costs little, and what lives longer has more to show. @return false: no memory */
static bool introduce_all(struct arrivals *a, struct looks *looks)
{
    const uint64_t now = now_ns(), begun = own_cpu_ns();
    uint64_t spent = 0;
    size_t done = 0;
    bool good = true;

    a->paid = larger(a->paid, now - second_ns);
    while (good && done < a->waiting.count && spent < at_once_ns &&
           a->paid + spent * NEW_COSTS <= now) {
        good = introduce(a, looks, &a->waiting.at[done++]);
        spent = own_cpu_ns() - begun;
    }
    a->paid += spent * NEW_COSTS;
    a->waiting.count -= done;
    memmove(a->waiting.at, a->waiting.at + done, a->waiting.count * sizeof *a->waiting.at);
    return good;
}

/* --- Ends ------------------------------------------------------------------------------------------------ */

/* A process that is looked at and has ended explains what its parent has waited for, unless there were many more. */
static bool is_explained(uint64_t passed, uint64_t ended)
{
    return passed <= 2 * ended;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Numbers without a process may have been threads, or of other programs. A process has that many page faults at least: of fork(), and _exit()
 * at once, there were 16.
 */
static void judge(struct arrivals *a, struct looks *looks)
{
    const uint64_t now = now_ns(), before = own_cpu_ns();
    enum { FAULTS_LEAST = 10 };
    uint64_t ended, reaped = 0;

    if (now < a->judge)
        return;
    ended = looks_forget_ended(looks, now);
    if (a->passed > 0 || ended > 0)
        reaped = looks_reaped(looks);
    if (!is_explained(a->passed, ended))
        count_unseen(a, looks, smaller(a->passed - ended, reaped / FAULTS_LEAST));
    a->passed = 0;
    a->judge = now + larger((own_cpu_ns() - before) * JUDGE_COSTS, judge_least_ns);
}

bool arrivals_take(struct arrivals *a, struct looks *looks, bool all)
{
    if (a->file < 0)
        return true;
    if (now_ns() >= a->search && !search(a, looks, all))
        return false;
    if (all) /* of the whole machine */
        a->passed = 0;
    judge(a, looks);
    return a->waiting.count == 0 || introduce_all(a, looks);
}

bool arrivals_missed(struct arrivals *a)
{
    const bool missed = a->too_many;

    a->too_many = false;
    return missed;
}

uint64_t arrivals_unseen(const struct arrivals *a)
{
    return a->unseen;
}

void arrivals_close(struct arrivals *a)
{
    if (a->file >= 0)
        close(a->file);
    free(a->waiting.at);
    *a = (struct arrivals){ .file = -1 };
}
