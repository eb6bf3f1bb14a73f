#include "recorder/stray.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/ends.h"
#include "recorder/program.h"
#include "recorder/tasks.h"

enum { TASKS_MAX = 4096, CHILDREN_MAX = 4096 };

static bool has_event(const struct sfb_recorder_follow *f, pid_t tid)
{
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        if (f->ring[i].tid == tid)
            return true;
    for (size_t i = 0; i < STRAYS_MAX; i++)
        if (f->stray[i].event.fd >= 0 && f->stray[i].event.tid == tid)
            return true;
    return false;
}

static void open_for(struct sfb_recorder_follow *f, pid_t pid, pid_t tid)
{
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        struct sfb_recorder_stray *s = &f->stray[i];

        if (s->event.fd >= 0)
            continue;
        if (sfb_recorder_task_is_of(tid, pid, f->events->signal) &&
            sfb_recorder_event_open(f->events, &s->event, tid)) {
            s->pid = pid;
            sfb_recorder_event_enable(&s->event);
        }
        return;
    }
}

void sfb_recorder_stray_threads(struct sfb_recorder_follow *f, uint32_t slot)
{
    const struct sfb_recorder_followed *p = &f->process[slot];
    static pid_t tasks[TASKS_MAX];
    size_t count;

    if (!f->events || !p->same || p->changed)
        return;
    count = sfb_recorder_tasks_of(p->pid, tasks, TASKS_MAX);
    for (size_t i = 0; i < count; i++)
        if (!has_event(f, tasks[i]))
            open_for(f, p->pid, tasks[i]);
}

bool sfb_recorder_stray_take(struct sfb_recorder_follow *f, pid_t tid,
                             struct sfb_recorder_event *out)
{
    for (size_t i = 0; i < STRAYS_MAX; i++) {
        struct sfb_recorder_stray *s = &f->stray[i];

        if (s->event.fd < 0 || s->event.tid != tid)
            continue;
        *out = s->event;
        s->event.fd = -1;
        return true;
    }
    return false;
}

void sfb_recorder_stray_forget(struct sfb_recorder_follow *f, pid_t pid)
{
    for (size_t i = 0; i < STRAYS_MAX; i++)
        if (f->stray[i].event.fd >= 0 && f->stray[i].pid == pid)
            sfb_recorder_event_close(f->events, &f->stray[i].event);
}

/* --- processes ----------------------------------------------------------------------------------- */

static const char *reason_of(const struct sfb_recorder_follow *f, pid_t pid)
{
    struct sfb_recorder_program program;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    sfb_recorder_program_look(&program, path);
    switch (program.kind) {
    case SFB_PROGRAM_STATIC: return "a static program: link it dynamically";
    case SFB_PROGRAM_OTHER_MACHINE: return "a program of another machine";
    case SFB_PROGRAM_UNREADABLE: return "its program cannot be read";
    case SFB_PROGRAM_DYNAMIC:
    case SFB_PROGRAM_NO_LOADER:
    case SFB_PROGRAM_SCRIPT:
    case SFB_PROGRAM_OTHER: break;
    }
    if (program.raised)
        return "a setuid program: the loader ignores LD_PRELOAD";
    if (__atomic_load_n(&f->shared->lost[SFB_LOSS_NO_PROCESS], __ATOMIC_RELAXED) != 0)
        return "no agent: there were no more slots, or its environment was cleared";
    return "no agent: its environment was cleared, or it could not open the session";
}

void sfb_recorder_stray_tell(struct sfb_recorder_follow *f, uint32_t parent, pid_t pid)
{
    char name[64], text[256];

    sfb_recorder_task_name(pid, name, sizeof name);
    snprintf(text, sizeof text, "pid %ld (%s): %s", (long)pid, name, reason_of(f, pid));
    sfb_recorder_drain_lost(f->drain, parent, SFB_LOSS_NOT_FOLLOWED, 1, text);
}

static void note(struct sfb_recorder_follow *f, uint32_t parent, pid_t pid)
{
    struct sfb_recorder_agentless *room = NULL;

    for (size_t i = 0; i < AGENTLESS_MAX; i++) {
        struct sfb_recorder_agentless *a = &f->agentless[i];

        if (a->pid == pid) {
            a->seen = true;
            if (!a->told)
                sfb_recorder_stray_tell(f, parent, pid);
            a->told = true;
            return;
        }
        if (a->pid == 0 && !room)
            room = a;
    }
    if (room)
        *room = (struct sfb_recorder_agentless){ .pid = pid, .seen = true };
}

static bool is_followed(const struct sfb_recorder_follow *f, pid_t pid)
{
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && f->process[i].here == pid)
            return true;
    return false;
}

/* Another program is there, and no other agent: it was executed. */
static void look_at_program(struct sfb_recorder_follow *f, struct sfb_recorder_followed *p)
{
    char path[64];
    struct stat file;

    snprintf(path, sizeof path, "/proc/%ld/exe", (long)p->here);
    if (p->inode == 0 || stat(path, &file) != 0)
        return;
    if (p->device == file.st_dev && p->inode == file.st_ino) {
        p->changed = false;
    } else if (!p->changed) {
        p->changed = true;
    } else {
        if (!f->no_children) {
            note(f, p->id, p->here);
            note(f, p->id, p->here); /* seen twice already */
        }
        sfb_recorder_ends_tell(f, (uint32_t)(p - f->process), SFB_PROCESS_REPLACED, 0, p->cpu);
    }
}

/* @param parent  its id; 0: this process, whose children are the first program, and orphans */
static void look_at_children(struct sfb_recorder_follow *f, uint32_t parent, pid_t pid)
{
    static pid_t children[CHILDREN_MAX];
    const size_t count = sfb_recorder_children_of(pid, children, CHILDREN_MAX);

    for (size_t i = 0; i < count; i++)
        if (!is_followed(f, children[i]) && (!f->no_children || children[i] == f->first))
            note(f, parent, children[i]);
}

void sfb_recorder_stray_processes(struct sfb_recorder_follow *f)
{
    for (size_t i = 0; i < AGENTLESS_MAX; i++)
        f->agentless[i].seen = false;
    look_at_children(f, 0, getpid());
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->here == 0 || p->told)
            continue;
        look_at_children(f, p->id, p->here);
        look_at_program(f, p);
    }
    for (size_t i = 0; i < AGENTLESS_MAX; i++)
        if (!f->agentless[i].seen)
            f->agentless[i].pid = 0;
}
