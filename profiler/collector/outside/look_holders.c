/*
 * A mutex of glibc's is known by its words. A normal one is 2 while threads wait, and its owner's number is two words behind it. One
 * with priority inheritance or for robust use has the number in the word itself. A number that is no thread of the process
 * proves nothing.
 *
 * The GIL of CPython is known by its own words.
 *
 * The owner's stack counts if it was seen after the waiter was, and the mutex is still the owner's after that.
 */
#include "profiler/collector/outside/look_holders.h"

#include <linux/futex.h>
#include <time.h>

enum look_mutex { LOOK_NORMAL, LOOK_IN_WORD, LOOK_GIL };

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* @return the owner's number as its process knows it; 0: it is free now */
static pid_t read_owner(struct look_process *p, uint64_t mutex, uint32_t kind)
{
    uint32_t word[3];
    const size_t size = kind == LOOK_NORMAL ? sizeof word : sizeof *word;

    if (kind == LOOK_GIL)
        return remote_python_gil_owner(&p->python, mutex);
    if (remote_memory_read(p->memory.pid, mutex, word, size) != size)
        return 0;
    if (kind == LOOK_IN_WORD)
        return (pid_t)(word[0] & FUTEX_TID_MASK);
    return word[0] == 2 ? (pid_t)word[2] : 0;
}

/* @return whether a call waits for a mutex */
static bool waits_for_mutex(const struct remote_task_call *call, uint32_t *kind)
{
    const int operation = (int)call->argument[1] & FUTEX_CMD_MASK;

    *kind = LOOK_IN_WORD;
    if (operation == FUTEX_LOCK_PI || operation == 13 /* FUTEX_LOCK_PI2 */)
        return true;
    if (operation != FUTEX_WAIT)
        return false;
    if ((uint32_t)call->argument[2] & FUTEX_WAITERS)
        return true;
    *kind = LOOK_NORMAL;
    return (uint32_t)call->argument[2] == 2;
}

/* @return its number in its PID namespace; 0: it has ended */
static pid_t own_number(struct look_process *p, struct look_thread *t)
{
    if (t->own == 0 && (!p->nested_known || p->nested)) {
        t->own = remote_task_own_number(&p->nested, p->tasks, t->tid);
        p->nested_known = t->own != 0;
    }
    return p->nested_known && !p->nested ? t->tid : t->own;
}

static struct look_thread *find_owner(struct look_process *p, pid_t own)
{
    for (size_t i = 0; i < p->threads.count; i++)
        if (own_number(p, &p->threads.at[i]) == own)
            return &p->threads.at[i];
    return NULL;
}

bool look_holder_due(struct looks *l, struct look_process *p, pid_t waiter, uint64_t seen)
{
    const bool gil = l->look.python.gil == SFB_GIL_WAITED;
    const uint64_t mutex = gil ? l->look.python.gil_at : l->look.call.argument[0];
    struct look_thread *owner;
    struct look_due *due;
    uint32_t kind = LOOK_GIL;
    pid_t own;

    if (!gil && !waits_for_mutex(&l->look.call, &kind))
        return true;
    own = read_owner(p, mutex, kind);
    owner = own > 0 ? find_owner(p, own) : NULL;
    if (!owner || owner->tid == waiter)
        return true;
    due = REPORT_NEXT(l->due);
    if (!due)
        return false;
    *due = (struct look_due){ p->pid, waiter, owner->tid, mutex, seen, kind };
    return true;
}

/* Whether a thread has not run since its time was divided. */
static bool stands_still(const struct look_process *p, const struct look_thread *t)
{
    struct remote_task_run run;

    return look_run_read(&run, p, t) && run.turns == t->wait.run.turns &&
           run.cpu_time == t->wait.run.cpu_time;
}

/* Where the owner is now, or was after the waiter was seen. @param stack  written; 0: not known */
static bool find_stack(struct looks *l, struct look_process *p, struct look_thread *owner,
                       uint64_t seen, uint32_t *stack)
{
    struct outside_place place = { .stack = 0 };
    struct remote_task_stat stat;

    *stack = 0;
    if (owner->wait.asleep && stands_still(p, owner)) {
        *stack = owner->wait.place.stack;
        return true;
    }
    if (owner->ran_at >= seen) {
        *stack = owner->ran_stack;
        return true;
    }
    if (!remote_task_stat_read(&stat, p->tasks, owner->tid) || stat.state != 'R')
        return true;
    if (!look_running(l, p, owner, false, &place)) /* its place alone: it may wait for a CPU */
        return false;
    *stack = place.stack;
    return true;
}

static bool find_one(struct looks *l, const struct look_due *due)
{
    struct look_process *p = look_process_of(l, due->pid);
    struct look_thread *waiter = p ? look_thread_of(p, due->waiter) : NULL;
    struct look_thread *owner = p ? look_thread_of(p, due->owner) : NULL;
    struct look_wait *w = waiter ? &waiter->wait : NULL;
    uint32_t stack;

    if (!w || !owner || !w->asleep)
        return true;
    if (!outside_thread_id(l->outside, (uint32_t)p->pid, (uint32_t)owner->tid, now_ns(),
                           &w->holder) ||
        !find_stack(l, p, owner, due->seen, &stack))
        return false;
    if (read_owner(p, due->mutex, due->kind) == own_number(p, owner))
        w->holder_stack = stack;
    return true;
}

bool look_holders_find(struct looks *l)
{
    bool good = true;

    for (size_t i = 0; good && i < l->due.count; i++)
        good = find_one(l, &l->due.at[i]);
    l->due.count = 0;
    return good;
}
