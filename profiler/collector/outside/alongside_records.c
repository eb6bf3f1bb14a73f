/* What the records of perf's rings say of the processes of a session of agents. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "profiler/collector/outside/alongside_state.h"
#include "profiler/collector/outside/outside_samples.h"
#include "profiler/collector/processes/follow.h"
#include "profiler/collector/processes/program.h"
#include "profiler/collector/processes/tasks.h"

/* For an agent after fork(). Most programs that execute another one, as env(1) does, do so before: their events go on in that. */
static const uint64_t agent_ns = 50000000;

static bool take_fork(struct alongside *b, const struct perf_record *record, uint64_t time)
{
    const struct alongside_process *parent;
    struct alongside_process *p;
    struct perf_task task;
    uint64_t on, due;
    bool blind;

    if (!perf_task_read(&task, record) || task.pid == task.parent_pid || task.pid != task.tid)
        return true;
    parent = alongside_process_find(b, task.parent_pid);
    on = parent && alongside_process_is_on(b, parent) ? parent->on : 0;
    blind = parent && parent->blind;
    due = parent && alongside_agent_records_at(alongside_process_agent(b, parent), time)
              ? time + agent_ns
              : time;
    p = alongside_process_add(b, task.pid, time);
    if (!p)
        return false;
    p->on = on;
    p->due = due;
    p->armed = !blind;
    p->blind = p->forked = p->missed = blind;
    return true;
}

/*
 * A program's end by exec. The process's clock is read later, and has the new program's time then. Its own is the
 * event's count at its last sample.
 */
static void end_program(struct alongside *b, const struct perf_record *record)
{
    const struct alongside_process *p;
    struct perf_comm comm;
    uint64_t weight, count;

    if (!perf_comm_read(&comm, record) || !comm.exec || !(p = alongside_process_find(b, comm.pid)))
        return;
    weight = outside_weight_of(b->outside, p->pid);
    count = p->common_last > p->common_base ? p->common_last - p->common_base : 1;
    outside_used(b->outside, p->pid, count > weight ? count : weight);
}

static void take_exec(struct alongside *b, struct alongside_process *p, uint64_t time)
{
    p->since = p->due = time;
    p->parted = true;
    p->common_base = p->common_last;
    p->common_weight = 0;
    p->refused = false;
    if (p->armed)
        p->on = time;
    p->armed = false;
    if (b->follow)
        sfb_recorder_follow_executed(b->follow, (pid_t)p->pid, time);
}

/*
 * What another user's program becomes has events of root alone: fs/exec.c, begin_new_exec(). At what it executes then events may
 * end again.
 */
static void look_at_rights(struct alongside_process *p)
{
    static struct sfb_recorder_program program;
    char path[32];

    snprintf(path, sizeof path, "/proc/%u/exe", p->pid);
    errno = 0;
    sfb_recorder_program_look(&program, path);
    if (!p->blind && !program.raised &&
        !(program.kind == SFB_PROGRAM_UNREADABLE && errno == EACCES))
        return;
    p->on = 0;
    p->refused = geteuid() != 0;
    alongside_own_close(&p->own);
    p->forked = false;
    p->blind = p->missed = !p->refused;
}

static bool take_comm(struct alongside *b, const struct perf_record *record, uint64_t time)
{
    struct alongside_process *p;
    struct perf_comm comm;

    if (!perf_comm_read(&comm, record) || !comm.exec)
        return true;
    p = alongside_process_find(b, comm.pid);
    if (!p)
        p = alongside_process_add(b, comm.pid, time);
    if (!p)
        return false;
    take_exec(b, p, time);
    look_at_rights(p);
    return true;
}

/* @return whether the process has ended, and what its events have counted is still to come */
static bool is_last_exit(struct alongside *b, const struct perf_record *record, uint64_t time)
{
    struct alongside_process *p;
    struct perf_task task;

    if (!perf_task_read(&task, record) || !outside_is_last(b->outside, task.pid, task.tid))
        return false;
    p = alongside_process_find(b, task.pid);
    if (!p || alongside_agent_records_at(alongside_process_agent(b, p), time))
        return false;
    /* At an exec the kernel says so of its events alone. */
    if (!p->missed || sfb_recorder_task_has_ended((pid_t)p->pid))
        p->exited = time;
    return true;
}

static void take_count(struct alongside *b, const struct perf_record *record)
{
    struct alongside_process *p;
    struct perf_read count;

    if (!perf_read_read(&count, record))
        return;
    p = alongside_process_find(b, count.pid);
    if (p)
        p->common_count += count.count;
}

static void take_exit(struct alongside *b, const struct perf_record *record, uint64_t time)
{
    struct alongside_process *p;
    struct perf_task task;

    if (!perf_task_read(&task, record))
        return;
    p = alongside_process_find(b, task.pid);
    if (p && !outside_knows(b->outside, task.pid))
        alongside_process_forget(b, p, time);
}

static bool is_own_child(const struct perf_record *record)
{
    struct perf_task task;

    return perf_task_read(&task, record) && task.parent_pid == (uint32_t)getpid();
}

static bool take_sample(struct alongside *b, const struct perf_sample *s)
{
    const struct perf_rings *r = &b->events.rings;
    const struct outside_totals *totals = outside_totals(b->outside);
    const uint64_t period = r->attr.sample_period, cut = totals->cut;
    const uint64_t weight =
        r->counts ? perf_weight_of(&b->weights, s, period, !r->attr.exclude_kernel) : period;
    const struct alongside_agent *agent;
    struct alongside_process *p = alongside_process_find(b, s->ids.pid);

    if (s->ids.pid == 0 || s->ids.pid == (uint32_t)getpid() || !p)
        return true;
    if (alongside_events_is_common(&b->events, s->ids.id) && r->counts)
        p->common_last = s->count;
    agent = alongside_process_agent(b, p);
    if (s->ids.time < p->since || alongside_agent_records_at(agent, s->ids.time))
        return true;
    if (alongside_events_is_common(&b->events, s->ids.id) && p->own.count > 0 &&
        s->ids.time >= p->own_since)
        return true;
    if (p->parted)
        outside_part(b->outside, p->pid,
                     agent && s->ids.time >= agent->until ? agent->until : p->since);
    p->parted = false;
    if (!outside_take_sample(b->outside, &r->layout, s, weight))
        return false;
    p->common_weight += alongside_events_is_common(&b->events, s->ids.id) ? weight : 0;
    copy_depth_note(&p->depth, s->ids.tid, totals->cut > cut, s->ids.time);
    return true;
}

static bool take(void *user, const struct perf_record *record, const struct perf_ids *ids)
{
    struct alongside *b = user;
    struct perf_sample sample;

    if (record->type == PERF_RECORD_SAMPLE) {
        if (perf_sample_read(&sample, &b->events.rings.layout, record))
            return take_sample(b, &sample);
        outside_damaged(b->outside);
        return true;
    }
    if (record->type == PERF_RECORD_FORK && !take_fork(b, record, ids->time))
        return false;
    if (record->type == PERF_RECORD_READ)
        take_count(b, record);
    if (record->type == PERF_RECORD_EXIT && is_last_exit(b, record, ids->time))
        return true;
    if (record->type == PERF_RECORD_COMM)
        end_program(b, record);
    if (!(record->type == PERF_RECORD_FORK && is_own_child(record)) &&
        !outside_take(b->outside, record, ids))
        return false;
    if (record->type == PERF_RECORD_COMM)
        return take_comm(b, record, ids->time);
    if (record->type == PERF_RECORD_EXIT)
        take_exit(b, record, ids->time);
    return true;
}

bool alongside_records_take(struct alongside *b, uint64_t until)
{
    return perf_rings_take(&b->events.rings, until, take, b);
}
