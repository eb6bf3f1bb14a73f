#include "profiler/collector/outside/alongside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/collector/outside/alongside_state.h"
#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/outside_pause.h"
#include "profiler/collector/processes/tasks.h"
#include "profiler/collector/rings/slots.h"

/* Of a process that an agent reports, and that is not found here. */
static const uint64_t search_ns = 1000000000;

/* --- What a follower reports and asks --------------------------------------------------------------------- */

/* Agents that came before are known by now. */
static void catch_up(void *with, uint64_t time)
{
    struct alongside *b = with;

    if (time <= b->taken)
        return;
    b->taken = time;
    b->failed |= !alongside_records_take(b, time);
}

static uint32_t hand_over(void *with, pid_t pid, uint64_t *weight_ns)
{
    struct alongside *b = with;
    struct alongside_process *p = alongside_process_find(b, (uint32_t)pid);

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

    alongside_agents_ended(&b->agents, slot, sfb_recorder_now());
}

/* One that no record has named has other rights than its parent, or a parent that no event is inherited from. */
static bool records(void *with, pid_t pid)
{
    struct alongside *b = with;
    struct alongside_process *p = alongside_process_find(b, (uint32_t)pid);
    const uint64_t now = sfb_recorder_now();

    if (!p) {
        p = alongside_process_add(b, (uint32_t)pid, now);
        if (!p)
            return false;
        p->blind = p->missed = true;
        return alongside_process_open_own(b, p, PERF_STACK_LEAST);
    }
    return alongside_process_is_on(b, p) || p->own.count > 0 ||
           (!p->refused && alongside_process_open_own(b, p, PERF_STACK_LEAST));
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
    b->call = sfb_recorder_now();
    return b->outside != NULL;
}

bool alongside_take(struct alongside *b)
{
    const uint64_t now = sfb_recorder_now(),
                   unsure = b->follow ? sfb_recorder_follow_unsure(b->follow) : 0;

    if (b->call > b->taken && (unsure == 0 || now - unsure > search_ns))
        b->taken = b->call;
    b->call = now;
    if (b->failed || !alongside_records_take(b, b->taken))
        return false;
    alongside_processes_tend(b, now);
    return true;
}

bool alongside_pause(struct alongside *b, uint64_t time, bool paused)
{
    return outside_pause(b->outside, time, paused);
}

size_t alongside_running(const struct alongside *b)
{
    size_t count = 0;

    for (size_t i = 0; i < b->processes.count; i++) {
        const struct alongside_process *p = &b->processes.at[i];

        count += !p->parted &&
                 !alongside_agent_records_at(alongside_process_agent(b, p), b->taken) &&
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
    good = alongside_records_take(b, UINT64_MAX);
    alongside_processes_end_exited(b, UINT64_MAX);
    return outside_end(b->outside, sfb_recorder_now()) && good;
}

void alongside_close(struct alongside *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->processes.count; i++)
        alongside_process_release(&b->processes.at[i]);
    free(b->processes.at);
    free(b->agents.list.at);
    perf_weights_free(&b->weights);
    if (b->outside)
        outside_close(b->outside);
    alongside_events_close(&b->events);
    free(b);
}
