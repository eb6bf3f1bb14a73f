#include "profiler/collector/processes/untracked.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/collector/processes/ends.h"
#include "profiler/collector/processes/program.h"
#include "profiler/collector/processes/tasks.h"
#include "profiler/collector/rings/unrecorded.h"

enum { TASKS_MAX = 4096, CHILDREN_MAX = 4096 };

/* More than any loader was seen to take: 0.2 s with 200 libraries. */
static const uint64_t loading_ns = 1000000000;

static bool has_event(const struct sfb_recorder_follow *f, pid_t tid)
{
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        if (f->ring[i].tid == tid)
            return true;
    for (size_t i = 0; i < UNTRACKED_MAX; i++)
        if (f->untracked[i].event.fd >= 0 && f->untracked[i].event.tid == tid)
            return true;
    return false;
}

static void open_for(struct sfb_recorder_follow *f, pid_t pid, pid_t tid)
{
    for (size_t i = 0; i < UNTRACKED_MAX; i++) {
        struct sfb_recorder_untracked *s = &f->untracked[i];

        if (s->event.fd >= 0)
            continue;
        if (sfb_recorder_task_is_of(tid, pid, f->events->signal) &&
            sfb_recorder_event_open(f->events, &s->event, tid, 0, UINT64_MAX)) {
            s->pid = pid;
            sfb_recorder_event_enable(f->events, &s->event);
        }
        return;
    }
}

void sfb_recorder_untracked_threads(struct sfb_recorder_follow *f, uint32_t slot)
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

bool sfb_recorder_untracked_take(struct sfb_recorder_follow *f, pid_t tid,
                                 struct sfb_recorder_event *out)
{
    for (size_t i = 0; i < UNTRACKED_MAX; i++) {
        struct sfb_recorder_untracked *s = &f->untracked[i];

        if (s->event.fd < 0 || s->event.tid != tid)
            continue;
        *out = s->event;
        s->event.fd = -1;
        return true;
    }
    return false;
}

void sfb_recorder_untracked_forget(struct sfb_recorder_follow *f, pid_t pid)
{
    for (size_t i = 0; i < UNTRACKED_MAX; i++)
        if (f->untracked[i].event.fd >= 0 && f->untracked[i].pid == pid)
            sfb_recorder_event_close(f->events, &f->untracked[i].event);
}

/* --- processes ----------------------------------------------------------------------------------- */

static bool is_of_musl(const struct sfb_recorder_program *program)
{
    return strstr(program->interpreter, "/ld-musl-") != NULL;
}

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
        if (is_of_musl(&program))
            return "a program of musl: the agent is for glibc";
        break;
    case SFB_PROGRAM_NO_LOADER:
    case SFB_PROGRAM_SCRIPT:
    case SFB_PROGRAM_OTHER: break;
    }
    if (program.raised)
        return "a setuid program: the loader ignores LD_PRELOAD";
    if (__atomic_load_n(&f->shared->lost[SFB_LOSS_NO_PROCESS], __ATOMIC_RELAXED) != 0)
        return "no agent: there were no more slots, or its environment was cleared";
    if (__atomic_load_n(&f->shared->lost[SFB_LOSS_SPACE], __ATOMIC_RELAXED) != 0)
        return "no agent: a limit on address space (ulimit -v) left no room, or its environment "
               "was cleared";
    return "no agent: its environment was cleared, or it could not open the session";
}

void sfb_recorder_untracked_report(struct sfb_recorder_follow *f, uint32_t parent, pid_t pid)
{
    char name[64], text[384];

    sfb_recorder_task_name(pid, name, sizeof name);
    snprintf(text, sizeof text, "pid %ld (%s): %s%s%s", (long)pid, name, reason_of(f, pid),
             f->alone[0] ? "; not from outside: " : "", f->alone);
    sfb_recorder_drain_lost(f->drain, parent, SFB_LOSS_NOT_FOLLOWED, 1, text);
}

/*
 * Whether its agent may still be loading. Only CPU time is counted: on a busy machine, or under a debugger, loading may
 * last for any time.
 */
static bool is_loading(const struct sfb_recorder_agentless *a)
{
    struct sfb_recorder_program program;
    char path[64];
    uint64_t cpu;

    snprintf(path, sizeof path, "/proc/%ld/exe", (long)a->pid);
    sfb_recorder_program_look(&program, path);
    return program.kind == SFB_PROGRAM_DYNAMIC && !program.raised && !is_of_musl(&program) &&
           sfb_recorder_task_has_variable(a->pid, SFB_SHARED_ENVIRONMENT) &&
           sfb_recorder_process_cpu(a->pid, &cpu) && cpu - a->cpu < loading_ns;
}

static void look_at(const struct sfb_recorder_follow *f, struct sfb_recorder_agentless *a)
{
    a->seen = true;
    sfb_recorder_process_cpu(a->pid, &a->last);
    sfb_recorder_task_name(a->pid, a->name, sizeof a->name);
    a->elsewhere = f->elsewhere.with && f->elsewhere.records(f->elsewhere.with, a->pid);
}

/* @return whether it is a loss: the process runs, and will get no agent */
static bool note(struct sfb_recorder_follow *f, uint32_t parent, pid_t pid)
{
    struct sfb_recorder_agentless *room = NULL;

    if (sfb_recorder_task_has_ended(pid))
        return false;

    for (size_t i = 0; i < AGENTLESS_MAX; i++) {
        struct sfb_recorder_agentless *a = &f->agentless[i];

        if (a->pid == pid) {
            look_at(f, a);
            if (!a->told && !is_loading(a)) {
                if (!a->elsewhere)
                    sfb_recorder_untracked_report(f, parent, pid);
                a->told = true;
            }
            return a->told;
        }
        if (a->pid == 0 && !room)
            room = a;
    }
    if (room) {
        *room = (struct sfb_recorder_agentless){ .pid = pid };
        look_at(f, room);
        room->cpu = room->last;
    }
    return false;
}

static bool is_followed(const struct sfb_recorder_follow *f, pid_t pid)
{
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && f->process[i].here == pid)
            return true;
    return false;
}

/* Another program, but no other agent: an exec without an agent. */
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
        if (!f->no_children)
            note(f, p->id, p->here);
        if (f->no_children || note(f, p->id, p->here)) /* seen for the second time */
            sfb_recorder_ends_tell(f, (uint32_t)(p - f->process), SFB_PROCESS_REPLACED, 0, p->cpu);
    }
}

/*
 * @param parent  its id; 0: this process, whose children are the first program, and orphans
 * @return whether they could be listed
 */
static bool look_at_children(struct sfb_recorder_follow *f, uint32_t parent, pid_t pid)
{
    static pid_t children[CHILDREN_MAX];
    const size_t count = sfb_recorder_children_of(pid, children, CHILDREN_MAX);
    const bool whole = errno == 0;

    for (size_t i = 0; i < count; i++)
        if (!is_followed(f, children[i]) && (!f->no_children || children[i] == f->first))
            note(f, parent, children[i]);
    return whole;
}

/* The process has ended, or its agent has come. */
static void forget(struct sfb_recorder_follow *f, struct sfb_recorder_agentless *a)
{
    if (a->pid != 0 && !a->elsewhere && !is_followed(f, a->pid))
        sfb_recorder_drain_unrecorded(f->drain, a->name, a->last);
    a->pid = 0;
}

void sfb_recorder_untracked_processes(struct sfb_recorder_follow *f)
{
    bool whole;

    for (size_t i = 0; i < AGENTLESS_MAX; i++)
        f->agentless[i].seen = false;
    whole = look_at_children(f, 0, getpid());
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_recorder_followed *p = &f->process[i];

        if (p->pid == 0 || p->here == 0 || p->told)
            continue;
        whole = look_at_children(f, p->id, p->here) && whole;
        look_at_program(f, p);
    }
    /* Without a descriptor there seem to be no children: none of them has ended for that. */
    for (size_t i = 0; whole && i < AGENTLESS_MAX; i++)
        if (!f->agentless[i].seen)
            forget(f, &f->agentless[i]);
}

void sfb_recorder_untracked_end(struct sfb_recorder_follow *f)
{
    for (size_t i = 0; i < AGENTLESS_MAX; i++)
        forget(f, &f->agentless[i]);
}
