#include "profiler/collector/outside/outside.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/collector/outside/outside_write.h"

struct outside *outside_open(const struct outside_options *options)
{
    struct outside *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->how = *options;
    o->ids = options->ids ? options->ids : &o->own_ids;
    o->cbf = malloc(OUTSIDE_CBF);
    o->tasks.files = sfb_copied_files_open();
    o->kernel = options->kernel ? kernel_names_open(options->kernel_text) : NULL;
    if (o->cbf && o->tasks.files)
        return o;
    outside_tasks_free(&o->tasks);
    kernel_names_close(o->kernel);
    free(o->cbf);
    free(o);
    return NULL;
}

const struct outside_totals *outside_totals(const struct outside *o)
{
    return &o->totals;
}

void outside_damaged(struct outside *o)
{
    o->totals.unreadable++;
}

/* --- Tasks ------------------------------------------------------------------------------------------ */

static void set_name(char out[16], const char *name)
{
    size_t size = strlen(name);

    size = size < 15 ? size : 15;
    memcpy(out, name, size);
    out[size] = '\0';
}

void outside_program(struct outside *o, uint32_t pid, uint32_t parent, uint64_t time,
                     const char *name)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, true);

    if (!p)
        return;
    p->parent_pid = parent;
    p->time = time;
    p->cpu = outside_cpu_of(o, pid);
    set_name(p->name, name);
}

void outside_thread(struct outside *o, uint32_t pid, uint32_t tid, const char *name)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    struct outside_thread *t = p ? outside_tasks_thread(&o->tasks, tid, p) : NULL;

    if (!t || strcmp(t->name, name) == 0)
        return;
    set_name(t->name, name);
    t->named = false;
}

/* What the kernel calls memory that is no file, or is no code. */
static bool is_file(const char *path)
{
    static const char *const others[] = { "//anon", "/memfd:", "/anon_hugepage",
                                          "/dev/",  "/SYSV",   "/[aio]" };

    for (size_t i = 0; path && i < sizeof others / sizeof *others; i++)
        if (strncmp(path, others[i], strlen(others[i])) == 0)
            return false;
    return path != NULL;
}

void outside_map(struct outside *o, uint32_t pid, const struct sfb_copied_mapping *mapping)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    struct sfb_copied_mapping m = *mapping;

    if (!p)
        return;
    if (!is_file(m.path))
        m.path = NULL;
    if (!p->program && m.executable && m.path && m.path[0] == '/')
        p->program = strdup(m.path);
    p->listed &= !m.executable;
    if (sfb_copied_space_map(p->space, &m) != SFB_OK)
        outside_damaged(o);
}

/* Whether all that a record can say of a process was found out after it. */
static bool is_old(struct outside *o, uint32_t pid, uint64_t time)
{
    const struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    return p && time != 0 && time < p->time;
}

/* Another program in the process: its threads are gone but for the one that goes on as the first. */
static bool execute(struct outside *o, uint32_t pid, uint64_t time)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    const uint32_t parent = p ? p->parent_pid : 0;
    const bool begun = p && p->weight > 0;

    /* Without samples it is as if it had not been there. */
    if (p)
        outside_end_process(o, p, time, SFB_PROCESS_REPLACED);
    p = outside_tasks_process(&o->tasks, pid, true);
    if (!p)
        return false;
    p->parent_pid = parent;
    p->time = time;
    p->cpu = outside_cpu_of(o, pid);
    p->how = parent != 0 || begun ? SFB_PROCESS_EXECUTED : SFB_PROCESS_STARTED;
    return true;
}

static bool take_comm(struct outside *o, const struct perf_record *record, uint64_t time)
{
    struct outside_process *p;
    struct outside_thread *t;
    struct perf_comm comm;

    if (!perf_comm_read(&comm, record)) {
        outside_damaged(o);
        return true;
    }
    if (is_old(o, comm.pid, time))
        return true;
    if (comm.exec && !execute(o, comm.pid, time))
        return false;
    p = outside_tasks_process(&o->tasks, comm.pid, true);
    t = p ? outside_tasks_thread(&o->tasks, comm.tid, p) : NULL;
    if (!t)
        return false;
    if (comm.pid == comm.tid)
        set_name(p->name, comm.name);
    set_name(t->name, comm.name);
    t->named = false;
    return true;
}

static bool fork_process(struct outside *o, const struct perf_task *task, uint64_t time)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, task->pid, false), *parent;
    struct sfb_copied_space *space;

    /* Its number has come again, and its end was not seen. */
    if (p)
        outside_end_process(o, p, time, SFB_PROCESS_GONE);
    p = outside_tasks_process(&o->tasks, task->pid, true);
    if (!p)
        return false;
    parent = outside_tasks_process(&o->tasks, task->parent_pid, false);
    p->parent_pid = task->parent_pid;
    p->time = time;
    p->how = SFB_PROCESS_FORKED;
    if (!parent || parent == p)
        return true;
    memcpy(p->name, parent->name, sizeof p->name);
    p->program = parent->program ? strdup(parent->program) : NULL;
    space = sfb_copied_space_open(o->tasks.files, parent->space);
    if (!space)
        return false;
    sfb_copied_space_close(p->space);
    p->space = space;
    return true;
}

static bool take_fork(struct outside *o, const struct perf_record *record, uint64_t time)
{
    const struct outside_thread *parent;
    struct outside_process *p;
    struct outside_thread *t;
    struct perf_task task;
    char name[16] = "";

    if (!perf_task_read(&task, record)) {
        outside_damaged(o);
        return true;
    }
    if (is_old(o, task.pid, time))
        return true;
    if (task.pid != task.parent_pid && task.pid == task.tid && !fork_process(o, &task, time))
        return false;
    parent = outside_tasks_known(&o->tasks, task.parent_tid);
    if (parent)
        memcpy(name, parent->name, sizeof name);
    p = outside_tasks_process(&o->tasks, task.pid, true);
    t = p ? outside_tasks_thread(&o->tasks, task.tid, p) : NULL;
    if (t && t->id == 0)
        memcpy(t->name, name, sizeof name);
    return t != NULL;
}

static bool take_exit(struct outside *o, const struct perf_record *record, uint64_t time)
{
    struct outside_process *p;
    struct outside_thread *t;
    struct perf_task task;

    if (!perf_task_read(&task, record)) {
        outside_damaged(o);
        return true;
    }
    if (is_old(o, task.pid, time)) /* its events have ended, and it was introduced anew */
        return true;
    p = outside_tasks_process(&o->tasks, task.pid, false);
    t = outside_tasks_known(&o->tasks, task.tid);
    if (t && t->id != 0) {
        const struct sfb_recording_thread_end event = { .id = t->id, .time = time };

        outside_put(o, sfb_recording_put_thread_end(o->how.writer, &event));
    }
    if (t)
        outside_tasks_forget_thread(&o->tasks, t);
    /* Others may outlive the first thread. */
    if (p && p->alive == 0)
        outside_end_process(o, p, time, SFB_PROCESS_GONE);
    return !o->failed;
}

static bool take_mmap(struct outside *o, const struct perf_record *record, uint64_t time)
{
    struct sfb_copied_mapping mapping = { .start = 0 };
    struct perf_mmap m;

    if (!perf_mmap_read(&m, record)) {
        outside_damaged(o);
        return true;
    }
    if (m.pid == UINT32_MAX || m.size == 0 || m.size > UINT64_MAX - m.start)
        return true; /* the kernel's */
    if (is_old(o, m.pid, time))
        return true;
    if (!outside_tasks_process(&o->tasks, m.pid, true))
        return false;
    mapping.start = m.start;
    mapping.end = m.start + m.size;
    mapping.offset = m.offset;
    mapping.executable = m.executable;
    mapping.path = m.path;
    mapping.build_id = m.build_id;
    mapping.build_id_size = m.build_id_size;
    if (o->how.describe)
        o->how.describe(o->how.user, &mapping, m.pid, &m);
    outside_map(o, m.pid, &mapping);
    return true;
}

bool outside_take(struct outside *o, const struct perf_record *record, const struct perf_ids *ids)
{
    uint64_t lost;

    switch (record->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: return take_mmap(o, record, ids->time);
    case PERF_RECORD_COMM: return take_comm(o, record, ids->time);
    case PERF_RECORD_FORK: return take_fork(o, record, ids->time);
    case PERF_RECORD_EXIT: return take_exit(o, record, ids->time);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        if (perf_lost_read(&lost, record))
            o->totals.lost += lost;
        return true;
    default: return true;
    }
}

void outside_gone(struct outside *o, uint32_t pid, uint64_t time)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    if (p)
        outside_end_process(o, p, time, SFB_PROCESS_GONE);
}

void outside_replaced(struct outside *o, uint32_t pid, uint64_t time)
{
    execute(o, pid, time);
}

void outside_from_birth(struct outside *o, uint32_t pid)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    if (!p || o->paused)
        return;
    p->missed = outside_cpu_of(o, pid);
    p->cpu = 0;
}

bool outside_knows(struct outside *o, uint32_t pid)
{
    return outside_tasks_process(&o->tasks, pid, false) != NULL;
}

uint32_t outside_hand_over(struct outside *o, uint32_t pid, uint64_t *weight_ns)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    const uint32_t id = p ? p->id : 0;

    if (id == 0)
        return 0;
    *weight_ns = p->weight;
    sfb_recording_forget_stacks(o->how.writer, id);
    p->id = 0;
    p->weight = p->paused = 0;
    p->how = SFB_PROCESS_EXECUTED;
    p->listed = false;
    p->handed = true;
    return id;
}

uint32_t outside_hand_over_thread(struct outside *o, uint32_t tid)
{
    struct outside_thread *t = outside_tasks_known(&o->tasks, tid);
    const uint32_t id = t ? t->id : 0;

    if (id == 0 || o->tasks.processes.at[t->process].id != 0)
        return 0;
    t->id = 0;
    t->named = false;
    return id;
}

/* Its threads get new entries with their next samples. */
static void part_threads(struct outside *o, const struct outside_process *p)
{
    for (size_t i = 0; i < o->tasks.threads.count; i++)
        if (o->tasks.threads.at[i].process == p->slot) {
            o->tasks.threads.at[i].id = 0;
            o->tasks.threads.at[i].named = false;
        }
}

void outside_part(struct outside *o, uint32_t pid, uint64_t time)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    if (!p)
        return;
    if (p->id != 0 || p->handed)
        part_threads(o, p);
    if (p->id != 0) {
        outside_end_entry(o, p, time, SFB_PROCESS_REPLACED);
        p->how = SFB_PROCESS_EXECUTED;
    }
    p->handed = false;
    p->id = 0;
    p->weight = p->used = p->paused = 0;
    p->time = time;
    p->listed = false;
}

bool outside_is_last(struct outside *o, uint32_t pid, uint32_t tid)
{
    const struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    const struct outside_thread *t = outside_tasks_known(&o->tasks, tid);

    return p && t && t->process == p->slot && p->alive == 1;
}

void outside_rest(struct outside *o, uint32_t pid, uint64_t ns)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    if (p)
        p->missed += ns;
}

void outside_used(struct outside *o, uint32_t pid, uint64_t ns)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    if (p)
        p->used = ns;
}

uint64_t outside_weight_of(struct outside *o, uint32_t pid)
{
    const struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    return p ? p->weight : 0;
}

uint32_t outside_id_of(struct outside *o, uint32_t pid)
{
    const struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    return p ? p->id : 0;
}

bool outside_end(struct outside *o, uint64_t time)
{
    for (size_t i = 0; i < o->tasks.processes.count; i++)
        if (o->tasks.processes.at[i].space)
            outside_end_process(o, &o->tasks.processes.at[i], time, SFB_PROCESS_LEFT);
    kernel_names_write(o->kernel, o->how.writer);
    return !o->failed;
}

void outside_close(struct outside *o)
{
    outside_tasks_free(&o->tasks);
    kernel_names_close(o->kernel);
    report_strings_free(&o->codes);
    report_strings_free(&o->awaited);
    free(o->awaited_ids.at);
    free(o->stretches.at);
    free(o->cbf);
    free(o->map);
    free(o);
}
