#include "remote/thread_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "remote/call_restart.h"
#include "remote/python_place.h"
#include "remote/thread_stop.h"

enum {
    STACK_FIRST = 256 << 10, /* bytes that are copied at first: nearly no stack is deeper */
    STACK_MAX = 64 << 20,
    STACK_GROWS = 16,
    STOPS_MAX = 4 /* of one thread: deeper, deeper, and another stack */
};

void remote_thread_look(struct remote_thread *out, const struct remote_source *from, pid_t tid)
{
    out->looked = remote_look_asleep(&out->look, from->memory, from->tasks, tid, STACK_FIRST);
}

/* Tells why a thread must not be stopped, as far as it was seen asleep. @return NULL: it may */
static const char *forbids_stop(const struct remote_thread *t, const struct remote_source *from,
                                char state)
{
    if (!from->may_stop)
        return "not stopped: stops were not wanted";
    if (state == 'D')
        return "not stopped: uninterruptible, in the kernel";
    return t->looked == REMOTE_LOOK_DONE ? remote_call_forbids_stop(&t->look.call, from->pid)
                                         : NULL;
}

/* Tells whether the walk of a sleeping thread is whole and true. */
static bool walk_asleep(struct remote_thread *t, const struct remote_source *from)
{
    const enum remote_walk_end end =
        remote_walk(&t->walk, &t->look, from->memory, from->modules, from->max_frames);

    if (t->walk.more && !remote_look_holds(&t->look, from->tasks)) {
        t->looked = REMOTE_LOOK_RUNS; /* it has woken up: all that was read may be of two moments */
        t->walk.count = 0;
        return false;
    }
    return end == REMOTE_WALK_DONE || end == REMOTE_WALK_NO_MEMORY;
}

/* Stops the thread, and walks it. What was read asleep stays where that fails. */
static enum remote_walk_end walk_stopped(struct remote_thread *t, const struct remote_source *from,
                                         char state, const struct remote_wanted *wanted,
                                         const char **why)
{
    const struct remote_task_call asleep = t->looked == REMOTE_LOOK_DONE
                                               ? t->look.call
                                               : (struct remote_task_call){ .in_call = false };
    const bool job_control = state == 'T' || state == 't';
    struct remote_look look = { .tid = 0 };
    const enum remote_look_end looked = remote_look_stopped(&look, from->memory, from->tasks,
                                                            t->look.tid, wanted, job_control, why);

    if (looked != REMOTE_LOOK_DONE) {
        remote_look_free(&look);
        if (looked == REMOTE_LOOK_GONE)
            t->looked = REMOTE_LOOK_GONE;
        return REMOTE_WALK_DONE;
    }
    remote_task_call_keep(&look.call, &asleep);
    remote_look_free(&t->look);
    t->look = look;
    t->looked = REMOTE_LOOK_DONE;
    return remote_walk(&t->walk, &t->look, from->memory, from->modules, from->max_frames);
}

/* @return false: no memory */
static bool copy_frames(struct sfb_remote_thread *out, const struct remote_walk *walk)
{
    const size_t size = walk->count * sizeof *walk->frames;

    out->frames = malloc(size > 0 ? size : 1);
    if (!out->frames)
        return false;
    if (size > 0)
        memcpy(out->frames, walk->frames, size);
    out->frame_count = walk->count;
    return true;
}

static void show(struct sfb_remote_thread *out, const struct remote_thread *t)
{
    const struct remote_look *look = &t->look;

    if (t->looked != REMOTE_LOOK_DONE)
        return;
    out->how = look->stopped ? SFB_REMOTE_STOPPED : SFB_REMOTE_ASLEEP;
    out->in_call = look->call.in_call;
    out->call = look->call.number;
    memcpy(out->argument, look->call.argument, sizeof out->argument);
    out->end = t->walk.end;
    if (!copy_frames(out, &t->walk))
        out->end = SFB_NO_RESOURCE;
    else
        remote_python_place(out, &look->python);
}

static uint64_t cpu_time(const struct remote_thread *t, const struct remote_source *from)
{
    struct remote_task_run run = t->look.run;
    struct remote_task_files files;

    if (t->looked == REMOTE_LOOK_DONE && !t->look.stopped)
        return run.cpu_time;
    if (remote_task_files_open(&files, from->tasks, t->look.tid)) {
        remote_task_run_read(&run, &files);
        remote_task_files_close(&files);
    }
    return run.cpu_time;
}

/* By t->stat. */
static void describe(struct sfb_remote_thread *out, const struct remote_thread *t,
                     const struct remote_source *from)
{
    bool nested;

    *out = (struct sfb_remote_thread){ .tid = t->look.tid,
                                       .own_tid = t->look.tid,
                                       .state = t->stat.state,
                                       .cpu_time = cpu_time(t, from),
                                       .end = SFB_UNREADABLE };
    memcpy(out->name, t->stat.name, sizeof out->name);
    if (from->nested)
        out->own_tid = remote_task_own_number(&nested, from->tasks, t->look.tid);
}

/* Wants what the walk came to the end of: more of the stack, if its copy is full and ends there; else another one. */
static void want_more(struct remote_wanted *wanted, const struct remote_thread *t)
{
    const struct remote_stack *stack = &t->look.stack[0];
    const bool full = stack->size + sizeof(uint64_t) > wanted->most;

    if (full && t->walk.cut - stack->at < stack->size + STACK_MAX && wanted->most < STACK_MAX)
        wanted->most *= STACK_GROWS;
    else
        wanted->other = t->walk.cut;
}

/*
 * Reads a thread that cannot be read asleep; once more where its stack is deeper than the copy, or goes on elsewhere.
 *
 * What was seen of it may be old. It is looked at right before a stop, for it must not be stopped in a call whose time-out
 * would begin anew. Between the look and the stop are some 20 us: no time-out is prolonged by more.
 *
 * @return NULL; else why it was not stopped, or not read
 */
static const char *read_awake(struct remote_thread *t, const struct remote_source *from, char state)
{
    struct remote_wanted wanted = { .most = STACK_FIRST };

    for (unsigned stops = 0; stops < STOPS_MAX; stops++) {
        const char *why;

        remote_thread_look(t, from, t->look.tid);
        if (t->looked == REMOTE_LOOK_DONE && walk_asleep(t, from))
            return NULL;
        if (t->looked == REMOTE_LOOK_DONE && !remote_look_holds(&t->look, from->tasks))
            t->looked = REMOTE_LOOK_RUNS;
        if (t->looked != REMOTE_LOOK_DONE && t->looked != REMOTE_LOOK_RUNS)
            return NULL;
        why = forbids_stop(t, from, state);
        if (why || walk_stopped(t, from, state, &wanted, &why) != REMOTE_WALK_NEEDS_STACK)
            return why;
        want_more(&wanted, t);
    }
    return NULL;
}

bool remote_thread_walk(struct sfb_remote_thread *out, struct remote_thread *t,
                        const struct remote_source *from)
{
    const bool read = t->looked == REMOTE_LOOK_DONE || t->looked == REMOTE_LOOK_RUNS;

    if (!remote_task_stat_read(&t->stat, from->tasks, t->look.tid) || t->stat.state == 'X')
        return false;
    describe(out, t, from);
    if (out->state == 'Z') {
        out->why = "it has ended";
        return true;
    }
    if (read && !(t->looked == REMOTE_LOOK_DONE && walk_asleep(t, from)))
        out->why = read_awake(t, from, out->state);
    if (t->looked == REMOTE_LOOK_REFUSED && !out->why)
        out->why = "its registers or its stack could not be read";
    show(out, t);
    return t->looked != REMOTE_LOOK_GONE;
}

bool remote_thread_walk_copy(struct sfb_remote_thread *out, struct remote_thread *t,
                             const struct remote_source *from)
{
    if (t->looked == REMOTE_LOOK_GONE)
        return false;
    describe(out, t, from);
    out->why = t->why;
    if (t->looked == REMOTE_LOOK_DONE) {
        switch (remote_walk(&t->walk, &t->look, from->memory, from->modules, from->max_frames)) {
        case REMOTE_WALK_NEEDS_STACK:
            out->why = "its stack goes on where nothing was copied of it";
            break;
        case REMOTE_WALK_NEEDS_REGISTERS:
        case REMOTE_WALK_NO_MEMORY:
        case REMOTE_WALK_DONE: break;
        }
        if (t->walk.more && !t->look.stopped && !remote_look_holds(&t->look, from->tasks)) {
            t->looked = REMOTE_LOOK_RUNS; /* some words are of a later moment */
            out->why = "it woke up before all of its stack was read";
        }
    }
    show(out, t);
    return true;
}

void remote_thread_free(struct remote_thread *thread)
{
    remote_look_free(&thread->look);
    free(thread->walk.frames);
}
