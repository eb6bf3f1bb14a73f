/* The processes of a session of agents: which have an agent, and what events of their own the others get. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "profiler/collector/outside/alongside_state.h"
#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/processes/tasks.h"
#include "profiler/collector/rings/slots.h"

/* How long processes with an agent pay for the common events. */
static const uint64_t hot_ns = 50000000;

/* By which the count of a thread's events comes after its exit, at most. */
static const uint64_t behind_ns = 2000000;

/* --- Processes and their agents ------------------------------------------------------------------------- */

struct alongside_process *alongside_process_find(const struct alongside *b, uint32_t pid)
{
    for (size_t i = 0; i < b->processes.count; i++)
        if (b->processes.at[i].pid == pid)
            return &b->processes.at[i];
    return NULL;
}

void alongside_process_release(struct alongside_process *p)
{
    alongside_own_close(&p->own);
    copy_depth_free(&p->depth);
}

struct alongside_process *alongside_process_add(struct alongside *b, uint32_t pid, uint64_t since)
{
    struct alongside_process *p = alongside_process_find(b, pid);

    if (p)
        alongside_process_release(p);
    else
        p = REPORT_NEXT(b->processes);
    if (p)
        *p = (struct alongside_process){ .pid = pid, .since = since, .due = since, .parted = true };
    return p;
}

bool alongside_process_is_on(const struct alongside *b, const struct alongside_process *p)
{
    return p->on > b->off;
}

const struct alongside_agent *alongside_process_agent(const struct alongside *b,
                                                      const struct alongside_process *p)
{
    return alongside_agents_find(&b->agents, p->pid, p->since);
}

bool alongside_agent_records_at(const struct alongside_agent *agent, uint64_t time)
{
    return agent && time >= agent->since && time < agent->until;
}

void alongside_process_forget(struct alongside *b, struct alongside_process *p, uint64_t time)
{
    alongside_agents_forget(&b->agents, p->pid, time);
    alongside_process_release(p);
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

bool alongside_process_open_own(struct alongside *b, struct alongside_process *p, uint32_t stack)
{
    struct alongside_own own;

    if (!alongside_own_open(&b->events, &own, (pid_t)p->pid, stack, p->blind)) {
        p->refused |= errno != ESRCH && errno != EINTR;
        return false;
    }
    p->own_count += alongside_own_count(&p->own);
    alongside_own_close(&p->own);
    p->own = own;
    p->own_since = sfb_recorder_now();
    p->silent = 0;
    if (p->missed)
        introduce_missed(b, p);
    return true;
}

/* No record says that a process without events has ended. */
static void open_late(struct alongside *b, struct alongside_process *p, uint64_t now)
{
    if (!alongside_process_open_own(b, p, PERF_STACK_LEAST) && p->blind &&
        sfb_recorder_task_has_ended((pid_t)p->pid))
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
    alongside_process_open_own(b, p, PERF_STACK_LEAST);
}

static void judge(struct alongside *b, struct alongside_process *p, uint64_t now)
{
    const uint32_t size = p->own.count > 0 ? p->own.stack : PERF_STACK_LEAST;
    const uint32_t wanted =
        copy_depth_wanted(&p->depth, size, perf_rings_stack_most(&b->events.rings), now);

    if (wanted == size)
        return;
    copy_depth_change(&p->depth, wanted > size, now);
    alongside_process_open_own(b, p, wanted);
}

/* Those without an agent first get events of their own: nothing is missed meanwhile. */
static void turn_off(struct alongside *b)
{
    for (size_t i = 0; i < b->processes.count; i++) {
        struct alongside_process *p = &b->processes.at[i];

        if (alongside_process_is_on(b, p) && p->own.count == 0 && !alongside_process_agent(b, p))
            alongside_process_open_own(b, p, PERF_STACK_LEAST);
    }
    alongside_events_turn_off(&b->events);
    b->off = sfb_recorder_now();
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
    alongside_process_forget(b, p, p->exited);
}

/* The count of a thread's events comes after its exit. */
void alongside_processes_end_exited(struct alongside *b, uint64_t before)
{
    for (size_t i = b->processes.count; i-- > 0;)
        if (b->processes.at[i].exited != 0 && b->processes.at[i].exited <= before)
            end_process(b, &b->processes.at[i]);
}

/* The last one of a process is, as long as that has not exited: its samples begin where the agent has left. */
static bool is_last_agent(const void *user, const struct alongside_agent *agent)
{
    const struct alongside *b = user;
    const struct alongside_process *p = alongside_process_find(b, agent->pid);

    return p && alongside_process_agent(b, p) == agent;
}

void alongside_processes_tend(struct alongside *b, uint64_t now)
{
    bool hot = false;

    alongside_processes_end_exited(b, b->taken - behind_ns);
    alongside_agents_drop(&b->agents, b->taken, is_last_agent, b);
    for (size_t i = 0; i < b->processes.count; i++) {
        struct alongside_process *p = &b->processes.at[i];
        const struct alongside_agent *agent = alongside_process_agent(b, p);

        if (p->exited != 0)
            continue;
        if (agent && agent->until == UINT64_MAX) {
            leave_to_agent(b, p, agent);
            hot |=
                alongside_process_is_on(b, p) && now > agent->since && now - agent->since > hot_ns;
            continue;
        }
        if (!p->refused && !alongside_process_is_on(b, p) && p->own.count == 0 &&
            (agent || now >= p->due))
            open_late(b, p, now);
        else
            judge(b, p, now);
        look_at_own(b, p, now);
    }
    if (hot)
        turn_off(b);
}
