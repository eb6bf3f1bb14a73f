#include "profiler/collector/outside/alongside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/alongside_agents.h"
#include "profiler/collector/outside/alongside_events.h"
#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/copy_depth.h"
#include "profiler/collector/outside/outside.h"
#include "profiler/collector/outside/outside_samples.h"
#include "profiler/collector/outside/perf_weight.h"
#include "profiler/collector/processes/program.h"
#include "profiler/collector/processes/tasks.h"

/*
 * For an agent after fork(); and how long processes with an agent pay for the common events. Most programs that execute
 * another one, as env(1) does, do so before: their events go on in that.
 */
static const uint64_t agent_ns = 50000000, hot_ns = 50000000;

/* By which the count of a thread's events comes after its exit, at most. */
static const uint64_t behind_ns = 2000000;

/* Of a process that an agent reports, and that is not found here. */
static const uint64_t search_ns = 1000000000;

struct alongside_process {
    uint32_t pid;
    uint64_t since; /* its program's exec, or its fork */
    uint64_t on;    /* since when the common events count in it; 0: they do not */
    uint64_t due;   /* when it gets events of its own, if no agent has come */
    bool armed;     /* its next exec turns the common events on */
    bool parted;    /* the part that the recording has from outside has ended, or not begun */
    bool refused;   /* events of its own */
    bool blind; /* it has not inherited events, or they have ended: its own ones say what it does */
    bool forked;              /* from a process of that kind */
    bool executed;            /* another program since */
    bool missed;              /* what it has done until its own events are open */
    uint64_t silent;          /* when its own events were seen to have ended; 0: they have not */
    struct alongside_own own; /* count 0: none */
    uint64_t own_since;
    struct copy_depth depth;
    uint64_t exited;       /* its last thread; 0: it runs */
    uint64_t common_count; /* of common events, in its threads that have ended */
    uint64_t common_last;  /* at the last sample */
    uint64_t common_base;  /* at the exec, of the program before */
    uint64_t common_weight;
    uint64_t own_count; /* of events of its own that were closed */
};

struct alongside {
    struct alongside_events events;
    struct outside *outside;
    struct sfb_recorder_follow *follow;
    struct perf_weights weights;
    REPORT_ARRAY(struct alongside_process) processes;
    struct alongside_agents agents;
    uint64_t off;   /* when the common events were last turned off */
    uint64_t call;  /* the call before */
    uint64_t taken; /* records up to this time */
    bool failed;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- Processes and their agents ------------------------------------------------------------------------- */

static struct alongside_process *find(const struct alongside *b, uint32_t pid)
{
    for (size_t i = 0; i < b->processes.count; i++)
        if (b->processes.at[i].pid == pid)
            return &b->processes.at[i];
    return NULL;
}

static void release(struct alongside_process *p)
{
    alongside_own_close(&p->own);
    copy_depth_free(&p->depth);
}

/* @return NULL: no memory */
static struct alongside_process *add(struct alongside *b, uint32_t pid, uint64_t since)
{
    struct alongside_process *p = find(b, pid);

    if (p)
        release(p);
    else
        p = REPORT_NEXT(b->processes);
    if (p)
        *p = (struct alongside_process){ .pid = pid, .since = since, .due = since, .parted = true };
    return p;
}

static bool is_on(const struct alongside *b, const struct alongside_process *p)
{
    return p->on > b->off;
}

/* The agent of the program that runs in a process. @return NULL: none has come */
static const struct alongside_agent *agent_of(const struct alongside *b,
                                              const struct alongside_process *p)
{
    return alongside_agents_find(&b->agents, p->pid, p->since);
}

static bool records_at(const struct alongside_agent *agent, uint64_t time)
{
    return agent && time >= agent->since && time < agent->until;
}

static void forget(struct alongside *b, struct alongside_process *p, uint64_t time)
{
    alongside_agents_forget(&b->agents, p->pid, time);
    release(p);
    *p = b->processes.at[--b->processes.count];
}

/* --- Events of single processes ------------------------------------------------------------------------- */

/* Whether it runs its parent's program, which it has begun with. */
static bool has_parents_program(uint32_t pid)
{
    struct stat its, parents;
    char path[32];

    snprintf(path, sizeof path, "/proc/%u/exe", pid);
    if (stat(path, &its) != 0)
        return true;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)sfb_recorder_task_parent((pid_t)pid));
    return stat(path, &parents) == 0 && its.st_ino == parents.st_ino &&
           its.st_dev == parents.st_dev;
}

/* From now on its own events say it. */
static void introduce_missed(struct alongside *b, struct alongside_process *p)
{
    const bool executed = p->executed || (p->forked && !has_parents_program(p->pid));

    p->missed = p->executed = p->forked = false;
    if (executed)
        outside_replaced(b->outside, p->pid, p->since);
    attach_introduce(b->outside, (pid_t)p->pid, p->since);
}

static bool open_own(struct alongside *b, struct alongside_process *p, uint32_t stack)
{
    struct alongside_own own;

    if (!alongside_own_open(&b->events, &own, (pid_t)p->pid, stack, p->blind)) {
        p->refused |= errno != ESRCH && errno != EINTR;
        return false;
    }
    p->own_count += alongside_own_count(&p->own);
    alongside_own_close(&p->own);
    p->own = own;
    p->own_since = now_ns();
    p->silent = 0;
    if (p->missed)
        introduce_missed(b, p);
    return true;
}

/* No record says that a process without events has ended. */
static void open_late(struct alongside *b, struct alongside_process *p, uint64_t now)
{
    if (!open_own(b, p, PERF_STACK_LEAST) && p->blind && sfb_recorder_task_has_ended((pid_t)p->pid))
        p->exited = now;
}

/* It may execute a program while its own events are opened: they end, and no record has said so. */
static void look_at_own(struct alongside *b, struct alongside_process *p, uint64_t now)
{
    if (!p->blind || !alongside_own_has_ended(&p->own))
        return;
    if (p->silent == 0)
        p->silent = now;
    if (b->taken <= p->silent)
        return;
    p->own_count += alongside_own_count(&p->own);
    alongside_own_close(&p->own);
    p->executed = p->missed = true;
    p->since = p->silent;
    open_own(b, p, PERF_STACK_LEAST);
}

static void judge(struct alongside *b, struct alongside_process *p, uint64_t now)
{
    const uint32_t size = p->own.count > 0 ? p->own.stack : PERF_STACK_LEAST;
    const uint32_t wanted =
        copy_depth_wanted(&p->depth, size, perf_rings_stack_most(&b->events.rings), now);

    if (wanted == size)
        return;
    copy_depth_change(&p->depth, wanted > size, now);
    open_own(b, p, wanted);
}

/* Those without an agent first get events of their own: nothing is missed meanwhile. */
static void turn_off(struct alongside *b)
{
    for (size_t i = 0; i < b->processes.count; i++) {
        struct alongside_process *p = &b->processes.at[i];

        if (is_on(b, p) && p->own.count == 0 && !agent_of(b, p))
            open_own(b, p, PERF_STACK_LEAST);
    }
    alongside_events_turn_off(&b->events);
    b->off = now_ns();
}

/* The part that was recorded before the agent came ends with that. */
static void leave_to_agent(struct alongside *b, struct alongside_process *p,
                           const struct alongside_agent *agent)
{
    alongside_own_close(&p->own);
    if (p->parted || b->taken < agent->since)
        return;
    outside_part(b->outside, p->pid, agent->since);
    p->parted = true;
}

/* While its own events count, so do the common ones if it has executed a program: then their samples stand for them. */
static void end_process(struct alongside *b, struct alongside_process *p)
{
    const uint64_t own = p->own_count + alongside_own_count(&p->own);

    const uint64_t common = p->common_count > p->common_base ? p->common_count - p->common_base : 0;

    if (!p->parted)
        outside_used(b->outside, p->pid, own > 0 ? own + p->common_weight : common);
    outside_gone(b->outside, p->pid, p->exited);
    forget(b, p, p->exited);
}

/* The count of a thread's events comes after its exit. */
static void end_exited(struct alongside *b, uint64_t before)
{
    for (size_t i = b->processes.count; i-- > 0;)
        if (b->processes.at[i].exited != 0 && b->processes.at[i].exited <= before)
            end_process(b, &b->processes.at[i]);
}

/* The last one of a process is, as long as that has not exited: its samples begin where the agent has left. */
static bool is_last_agent(const void *user, const struct alongside_agent *agent)
{
    const struct alongside *b = user;
    const struct alongside_process *p = find(b, agent->pid);

    return p && agent_of(b, p) == agent;
}

static void tend(struct alongside *b, uint64_t now)
{
    bool hot = false;

    end_exited(b, b->taken - behind_ns);
    alongside_agents_drop(&b->agents, b->taken, is_last_agent, b);
    for (size_t i = 0; i < b->processes.count; i++) {
        struct alongside_process *p = &b->processes.at[i];
        const struct alongside_agent *agent = agent_of(b, p);

        if (p->exited != 0)
            continue;
        if (agent && agent->until == UINT64_MAX) {
            leave_to_agent(b, p, agent);
            hot |= is_on(b, p) && now > agent->since && now - agent->since > hot_ns;
            continue;
        }
        if (!p->refused && !is_on(b, p) && p->own.count == 0 && (agent || now >= p->due))
            open_late(b, p, now);
        else
            judge(b, p, now);
        look_at_own(b, p, now);
    }
    if (hot)
        turn_off(b);
}

/* --- Records ---------------------------------------------------------------------------------------------- */

static bool take_fork(struct alongside *b, const struct perf_record *record, uint64_t time)
{
    const struct alongside_process *parent;
    struct alongside_process *p;
    struct perf_task task;
    uint64_t on, due;
    bool blind;

    if (!perf_task_read(&task, record) || task.pid == task.parent_pid || task.pid != task.tid)
        return true;
    parent = find(b, task.parent_pid);
    on = parent && is_on(b, parent) ? parent->on : 0;
    blind = parent && parent->blind;
    due = parent && records_at(agent_of(b, parent), time) ? time + agent_ns : time;
    p = add(b, task.pid, time);
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

    if (!perf_comm_read(&comm, record) || !comm.exec || !(p = find(b, comm.pid)))
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
    p = find(b, comm.pid);
    if (!p)
        p = add(b, comm.pid, time);
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
    p = find(b, task.pid);
    if (!p || records_at(agent_of(b, p), time))
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
    p = find(b, count.pid);
    if (p)
        p->common_count += count.count;
}

static void take_exit(struct alongside *b, const struct perf_record *record, uint64_t time)
{
    struct alongside_process *p;
    struct perf_task task;

    if (!perf_task_read(&task, record))
        return;
    p = find(b, task.pid);
    if (p && !outside_knows(b->outside, task.pid))
        forget(b, p, time);
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
    struct alongside_process *p = find(b, s->ids.pid);

    if (s->ids.pid == 0 || s->ids.pid == (uint32_t)getpid() || !p)
        return true;
    if (alongside_events_is_common(&b->events, s->ids.id) && r->counts)
        p->common_last = s->count;
    agent = agent_of(b, p);
    if (s->ids.time < p->since || records_at(agent, s->ids.time))
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

/* --- What a follower reports and asks --------------------------------------------------------------------- */

/* Agents that came before are known by now. */
static void catch_up(void *with, uint64_t time)
{
    struct alongside *b = with;

    if (time <= b->taken)
        return;
    b->taken = time;
    b->failed |= !perf_rings_take(&b->events.rings, time, take, b);
}

static uint32_t hand_over(void *with, pid_t pid, uint64_t *weight_ns)
{
    struct alongside *b = with;
    struct alongside_process *p = find(b, (uint32_t)pid);

    if (!p || p->parted)
        return 0;
    p->parted = true;
    return outside_hand_over(b->outside, p->pid, weight_ns);
}

static uint32_t hand_over_thread(void *with, pid_t tid)
{
    const struct alongside *b = with;

    return outside_hand_over_thread(b->outside, (uint32_t)tid);
}

static void agent_came(void *with, uint32_t slot, pid_t pid, uint64_t since)
{
    struct alongside *b = with;

    b->failed |= !alongside_agents_came(&b->agents, slot, (uint32_t)pid, since);
}

static void agent_left(void *with, pid_t pid, uint64_t until)
{
    struct alongside *b = with;

    alongside_agents_left(&b->agents, (uint32_t)pid, until);
}

static void agent_ended(void *with, uint32_t slot)
{
    struct alongside *b = with;

    alongside_agents_ended(&b->agents, slot, now_ns());
}

/* One that no record has named has other rights than its parent, or a parent that no event is inherited from. */
static bool records(void *with, pid_t pid)
{
    struct alongside *b = with;
    struct alongside_process *p = find(b, (uint32_t)pid);
    const uint64_t now = now_ns();

    if (!p) {
        p = add(b, (uint32_t)pid, now);
        if (!p)
            return false;
        p->blind = p->missed = true;
        return open_own(b, p, PERF_STACK_LEAST);
    }
    return is_on(b, p) || p->own.count > 0 || (!p->refused && open_own(b, p, PERF_STACK_LEAST));
}

static uint64_t weight_of(void *with, pid_t pid)
{
    const struct alongside *b = with;

    return outside_weight_of(b->outside, (uint32_t)pid);
}

static uint32_t id_of(void *with, uint32_t pid)
{
    const struct alongside *b = with;

    return outside_id_of(b->outside, pid);
}

struct sfb_recorder_elsewhere alongside_calls(struct alongside *b)
{
    return (struct sfb_recorder_elsewhere){ .with = b,
                                            .catch_up = catch_up,
                                            .hand_over = hand_over,
                                            .hand_over_thread = hand_over_thread,
                                            .agent_came = agent_came,
                                            .agent_left = agent_left,
                                            .agent_ended = agent_ended,
                                            .records = records,
                                            .weight_of = weight_of,
                                            .id_of = id_of };
}

void alongside_follow(struct alongside *b, struct sfb_recorder_follow *follow)
{
    b->follow = follow;
}

/* --- Its life ------------------------------------------------------------------------------------------- */

struct alongside *alongside_open(uint32_t rate_hz, char *why, size_t room)
{
    struct alongside *b = calloc(1, sizeof *b);
    const char *what = b ? alongside_events_open(&b->events, rate_hz) : "memory";

    if (!what)
        return b;
    snprintf(why, room, "%s: %s", what, strerror(errno));
    alongside_close(b);
    return NULL;
}

static size_t arguments(void *user, uint32_t pid, char *out, size_t room)
{
    (void)user;
    return sfb_recorder_task_arguments((pid_t)pid, out, room);
}

static uint32_t elsewhere(void *user, uint32_t pid)
{
    const struct alongside *b = user;

    return b->follow ? sfb_recorder_follow_id(b->follow, (pid_t)pid) : 0;
}

bool alongside_begin(struct alongside *b, struct sfb_recording_writer *writer,
                     struct sfb_recorder_ids *ids)
{
    const struct outside_options how = { .writer = writer,
                                         .engine = b->events.rings.attr.exclude_kernel
                                                       ? SFB_ENGINE_OUTSIDE_USER
                                                       : SFB_ENGINE_OUTSIDE,
                                         .kernel = !b->events.rings.attr.exclude_kernel,
                                         .ids = ids,
                                         .describe = attach_describe,
                                         .arguments = arguments,
                                         .owner = attach_owner,
                                         .elsewhere = elsewhere,
                                         .user = b };

    b->outside = outside_open(&how);
    b->call = now_ns();
    return b->outside != NULL;
}

bool alongside_take(struct alongside *b)
{
    const uint64_t now = now_ns(), unsure = b->follow ? sfb_recorder_follow_unsure(b->follow) : 0;

    if (b->call > b->taken && (unsure == 0 || now - unsure > search_ns))
        b->taken = b->call;
    b->call = now;
    if (b->failed || !perf_rings_take(&b->events.rings, b->taken, take, b))
        return false;
    tend(b, now);
    return true;
}

size_t alongside_running(const struct alongside *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->processes.count; i++) {
        const struct alongside_process *p = &b->processes.at[i];

        count += !p->parted && !records_at(agent_of(b, p), b->taken) &&
                 (kill((pid_t)p->pid, 0) == 0 || errno == EPERM) &&
                 !sfb_recorder_task_has_ended((pid_t)p->pid);
    }
    return count;
}

const struct outside_totals *alongside_totals(const struct alongside *b)
{
    return outside_totals(b->outside);
}

bool alongside_end(struct alongside *b)
{
    bool good;

    b->follow = NULL;
    good = perf_rings_take(&b->events.rings, UINT64_MAX, take, b);
    end_exited(b, UINT64_MAX);
    return outside_end(b->outside, now_ns()) && good;
}

void alongside_close(struct alongside *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->processes.count; i++)
        release(&b->processes.at[i]);
    free(b->processes.at);
    free(b->agents.list.at);
    perf_weights_free(&b->weights);
    if (b->outside)
        outside_close(b->outside);
    alongside_events_close(&b->events);
    free(b);
}
