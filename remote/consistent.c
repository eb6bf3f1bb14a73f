#include "remote/consistent.h"

#include <stdlib.h>

#include "remote/call_restart.h"
#include "remote/thread_stop.h"
#include "util/grow.h"

enum {
    STACK_MOST = 1 << 20, /* bytes of a stack: what is deeper cannot be read later */
    ROUNDS = 100          /* of listing the threads: running ones make new ones */
};

/* --- Stop ----------------------------------------------------------------------------------------- */

static void set_gone(struct remote_thread *t)
{
    t->looked = REMOTE_LOOK_GONE;
}

/* Right before it is asked to stop: a call that begins between the two may have its time-out begun anew. */
static const char *forbids_stop(struct remote_member *m, const struct remote_source *from)
{
    struct remote_thread *t = &m->thread;
    struct remote_task_files files;

    if (!remote_task_stat_read(&t->stat, from->tasks, t->look.tid) || t->stat.state == 'X' ||
        !remote_task_files_open(&files, from->tasks, t->look.tid)) {
        set_gone(t);
        return NULL;
    }
    remote_task_call_read(&t->look.call, &files);
    remote_task_files_close(&files);
    m->job_control = t->stat.state == 'T' || t->stat.state == 't';
    if (t->stat.state == 'Z') {
        t->looked = REMOTE_LOOK_REFUSED;
        return "it has ended";
    }
    if (t->stat.state == 'D')
        return "not stopped: uninterruptible, in the kernel";
    return t->look.call.where == REMOTE_TASK_SLEEPS
               ? remote_call_forbids_stop(&t->look.call, from->pid)
               : NULL;
}

static void ask(struct remote_member *m, const struct remote_source *from)
{
    struct remote_thread *t = &m->thread;

    t->why = forbids_stop(m, from);
    if (t->why || t->looked == REMOTE_LOOK_GONE)
        return;
    t->looked = remote_stop_end(remote_halt_ask(t->look.tid), &t->why);
    m->asked = t->looked == REMOTE_LOOK_DONE;
}

static void wait_for(struct remote_member *m)
{
    struct remote_thread *t = &m->thread;

    if (!m->asked || m->stands)
        return;
    t->looked = remote_stop_end(remote_halt_wait(&m->halt, t->look.tid), &t->why);
    m->stands = t->looked == REMOTE_LOOK_DONE;
    m->asked = m->stands;
}

static int by_number(const void *a, const void *b)
{
    const pid_t x = ((const struct remote_member *)a)->thread.look.tid,
                y = ((const struct remote_member *)b)->thread.look.tid;

    return (x > y) - (x < y);
}

/* @param sorted  so many of the members are, the others are newer */
static bool has(const struct remote_crowd *crowd, size_t sorted, pid_t tid)
{
    const struct remote_member wanted = { .thread.look.tid = tid };

    return sorted > 0 && bsearch(&wanted, crowd->members, sorted, sizeof wanted, by_number);
}

static struct remote_member *add(struct remote_crowd *crowd, pid_t tid)
{
    if (!array_make_room(&crowd->members, crowd->count, &crowd->room, sizeof *crowd->members))
        return NULL;
    crowd->members[crowd->count] = (struct remote_member){ .thread.look.tid = tid };
    return &crowd->members[crowd->count++];
}

/* Lists the threads, and asks the new ones. @return false: no memory, or the list cannot be read */
static bool ask_new_ones(struct remote_crowd *crowd, const struct remote_source *from)
{
    const size_t sorted = crowd->count;
    pid_t *tids;
    const ssize_t count = remote_task_list(&tids, from->tasks);
    bool good = count >= 0;

    for (ssize_t i = 0; good && i < count; i++) {
        struct remote_member *m = has(crowd, sorted, tids[i]) ? NULL : add(crowd, tids[i]);

        if (m)
            ask(m, from);
        else
            good = has(crowd, sorted, tids[i]);
    }
    free(tids);
    return good;
}

/* Until no thread is new: a thread that runs makes others before it stops. */
static bool stop_all(struct remote_crowd *crowd, const struct remote_source *from)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t before = crowd->count;

        if (!ask_new_ones(crowd, from))
            return false;
        if (crowd->count == before)
            break;
        for (size_t i = before; i < crowd->count; i++)
            wait_for(&crowd->members[i]);
        qsort(crowd->members, crowd->count, sizeof *crowd->members, by_number);
    }
    return true;
}

/* --- Copy ----------------------------------------------------------------------------------------- */

static void copy_stopped(struct remote_member *m, const struct remote_source *from)
{
    const struct remote_wanted wanted = { .most = STACK_MOST };
    struct remote_thread *t = &m->thread;
    const struct remote_task_call asleep = t->look.call;

    t->look.stopped = true;
    if (!remote_stop_copy(&t->look, from->memory, from->tasks, &m->halt, &wanted, m->job_control,
                          &t->why))
        t->looked = REMOTE_LOOK_REFUSED;
    remote_task_call_keep(&t->look.call, &asleep);
}

/* While the stopped ones stand: so that all of them are of one moment. */
static void copy_all(struct remote_crowd *crowd, const struct remote_source *from)
{
    for (size_t i = 0; i < crowd->count; i++)
        if (crowd->members[i].stands)
            copy_stopped(&crowd->members[i], from);
        else if (crowd->members[i].thread.looked != REMOTE_LOOK_GONE &&
                 crowd->members[i].thread.stat.state != 'Z')
            remote_thread_look(&crowd->members[i].thread, from, crowd->members[i].thread.look.tid);
    for (size_t i = 0; i < crowd->count; i++) {
        struct remote_thread *t = &crowd->members[i].thread;

        if (!crowd->members[i].stands && t->looked == REMOTE_LOOK_DONE &&
            !remote_look_holds(&t->look, from->tasks)) {
            t->looked = REMOTE_LOOK_RUNS;
            t->why = "it woke up while the others stood";
        }
    }
}

bool remote_crowd_read(struct remote_crowd *out, const struct remote_source *from)
{
    sigset_t mask;
    bool good;

    remote_halts_begin(&mask);
    good = stop_all(out, from);
    if (good)
        copy_all(out, from);
    for (size_t i = 0; i < out->count; i++) {
        wait_for(&out->members[i]); /* if there was no memory for the next one */
        if (out->members[i].stands)
            remote_halt_end(&out->members[i].halt);
    }
    remote_halts_end(&mask);
    return good;
}

void remote_crowd_free(struct remote_crowd *crowd)
{
    for (size_t i = 0; i < crowd->count; i++)
        remote_thread_free(&crowd->members[i].thread);
    free(crowd->members);
}
