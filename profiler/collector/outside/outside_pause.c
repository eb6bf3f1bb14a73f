#include "profiler/collector/outside/outside_pause.h"

/* Reads what a process has used: from here on, or up to here, it is not recorded. */
static void settle(struct outside *o, struct outside_process *p, bool paused)
{
    const uint64_t cpu = o->how.cpu(o->how.user, p->pid);

    if (!paused && cpu > 0)
        p->paused = outside_paused_of(o, p, cpu);
    p->pause_seen = paused;
    p->pause_cpu = cpu;
}

bool outside_pause(struct outside *o, uint64_t time, bool paused)
{
    struct outside_stretch *next;

    if (paused == o->paused)
        return true;
    for (size_t i = 0; o->how.cpu && i < o->tasks.processes.count; i++)
        if (o->tasks.processes.at[i].space)
            settle(o, &o->tasks.processes.at[i], paused);
    o->paused = paused;
    if (!paused) {
        o->stretches.at[o->stretches.count - 1].to = time;
        return true;
    }
    next = REPORT_NEXT(o->stretches);
    if (next)
        *next = (struct outside_stretch){ time, UINT64_MAX };
    else
        o->paused = false;
    return next != NULL;
}

bool outside_was_paused(const struct outside *o, uint64_t time)
{
    for (size_t i = o->stretches.count; i-- > 0;)
        if (time >= o->stretches.at[i].from)
            return time < o->stretches.at[i].to;
    return false;
}

void outside_pass_over(struct outside *o, uint32_t pid, uint64_t weight)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    if (p && !o->how.cpu)
        p->paused += weight;
}

uint64_t outside_paused_of(const struct outside *o, const struct outside_process *p, uint64_t cpu)
{
    /* One that was found meanwhile was not seen when the pause began. */
    const uint64_t from = p->pause_seen ? p->pause_cpu : p->cpu;

    return p->paused + (o->how.cpu && o->paused && cpu > from ? cpu - from : 0);
}
