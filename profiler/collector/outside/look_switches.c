#include "profiler/collector/outside/look_switches.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/collector/outside/look_awaited.h"
#include "profiler/collector/outside/look_ended.h"
#include "profiler/collector/outside/look_events.h"
#include "profiler/collector/outside/look_threads.h"
#include "profiler/collector/outside/outside.h"
#include "profiler/collector/outside/perf_registers.h"
#include "profiler/collector/outside/wait_kernel.h"
#include "profiler/collector/processes/tasks.h"

enum { NAME = 64, NAMES_MOST = 4096 };

static const uint64_t moment_ns = 100000;

/* --- Records of switches --------------------------------------------------------------------------------- */

/* When the present wait ended: it was woken up, and may have waited for a CPU then. */
static uint64_t end_of(const struct look_wait *w, uint64_t on)
{
    if (w->off == w->begun && w->woken.time != 0 && w->woken.time < w->off)
        return w->off; /* before its time is divided */
    return w->woken.time > w->off && w->woken.time < on ? w->woken.time : on;
}

/* The thread goes on after a wait. */
static bool end_wait(struct looks *l, const struct look_process *p, struct look_thread *t,
                     uint64_t time)
{
    struct look_wait *w = &t->wait;
    const bool placed = w->placed_at >= w->off && w->placed_at < time;
    uint64_t end;

    /* Some other CPU may wake a thread up before it has quite stopped. */
    if (w->woken.time == 0 && w->early.time != 0 && w->off - w->early.time < moment_ns)
        w->woken = w->early;
    /* The kernel has no record of a wake-up on a CPU that was idle, where nothing but interrupts run. */
    if (w->woken.time == 0 && t->woken_since != 0 && t->woken_since < w->off && l->lost_at < w->off)
        w->woken.name = "interrupt";
    end = end_of(w, time);
    if (!placed && w->left.place.stack != 0)
        return look_ended_take(l, p, t, end, time);
    w->woke = end;
    if (placed && end < time) { /* exactly, whatever schedstat says of it later */
        w->pending += end - w->off;
        w->blocked -= (int64_t)(end - w->off);
    } else {
        *(placed ? &w->claim : &w->claim_short) += end - w->off;
    }
    if (!placed)
        return true;
    w->place_until = end;
    w->waker = w->woken;
    return look_ended_runnable(l, p, t, &w->place, end, time);
}

static bool take_switch(struct looks *l, const struct look_process *p, struct look_thread *t,
                        uint64_t time, uint16_t misc)
{
    struct look_wait *w = &t->wait;
    bool good = true;

    if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
        const bool preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        /* Older records may come when the thread was found: what was before that counts nowhere. */
        const uint64_t since = time > w->begun ? time : w->begun;

        l->waits_since++;
        w->off = preempted ? 0 : since;
        w->preempted = preempted ? since : 0;
        w->woken = (struct look_waker){ .time = 0 };
        w->doubtful = false;
        /* A look has seen it before this record came. */
        if (!preempted && w->began == 0 && w->asleep && w->placed_at >= time)
            w->began = time;
        return true;
    }
    if (w->doubtful) /* it may be the end of another wait */
        w->off = 0;
    if (w->off != 0 && time > w->off)
        good = end_wait(l, p, t, time);
    else if (w->preempted != 0)
        good = look_ended_runnable(l, p, t, &w->left.place, w->preempted, time);
    w->off = w->preempted = 0;
    w->left.place.stack = 0;
    w->early.time = 0;
    w->doubtful = false;
    return good;
}

/* --- Samples --------------------------------------------------------------------------------------------- */

/* States of sched_switch: TASK_INTERRUPTIBLE and so on of the kernel's linux/sched.h. */
enum { STATE_DISK = 0x02, STATE_STOPPED = 0x04, STATE_TRACED = 0x08 };

/* @param how  of sched_switch; 0: not known */
static uint32_t state_of(const struct wait_chain *chain, uint64_t how)
{
    const bool disk = how != 0 ? how & STATE_DISK : chain->disk;

    if (how & STATE_STOPPED || (how == 0 && chain->stopped))
        return SFB_STATE_STOPPED;
    if (chain->call[0])
        return disk ? SFB_STATE_DISK : SFB_STATE_ASLEEP;
    return chain->fault ? SFB_STATE_FAULT : disk ? SFB_STATE_DISK : SFB_STATE_ASLEEP;
}

/* The futex that a thread waits for: the registers have the arguments of its call. */
static bool find_futex(struct looks *l, struct look_process *p, struct look_thread *t,
                       const struct sfb_context *registers)
{
    struct remote_task_call *call = &l->look.call;

    *call = (struct remote_task_call){ .in_call = true, .number = SYS_futex };
    for (unsigned i = 0; i < 3; i++)
        call->argument[i] = registers->reg[perf_register_arguments[i]];
    l->look.python.gil = SFB_GIL_UNKNOWN;
    return look_awaited_find(l, p, t->tid, &t->wait.left.awaited);
}

/* A thread stops running: where it is, all that it was waits for. Functions of an interpreter are read by looks alone. */
static bool take_stop(struct looks *l, struct look_process *p, struct look_thread *t,
                      const struct perf_layout *layout, const struct perf_sample *sample,
                      uint64_t how)
{
    struct look_left *left = &t->wait.left;
    struct sfb_context registers;
    struct wait_chain chain;
    bool changed = false;

    left->place.stack = 0;
    left->awaited = 0;
    if (p->python.fits)
        return true;
    if (!outside_place_sample(l->outside, layout, sample, &left->place, &registers) ||
        (left->place.end == SFB_NO_MODULE && !look_maps_anew(l, p, &changed)))
        return false;
    if (changed && !outside_place_sample(l->outside, layout, sample, &left->place, &registers))
        return false;
    left->pc = registers.reg[perf_register_pc];
    left->sp = registers.reg[perf_register_sp];
    wait_kernel_look(l->events->kernel, sample, &chain);
    if (how & STATE_TRACED || chain.traced) /* a look */
        left->place.stack = 0;
    left->state = state_of(&chain, how);
    left->call = chain.call;
    return strcmp(left->call, "futex") != 0 || find_futex(l, p, t, &registers);
}

/* The name of a process, for what is no thread of the recording. @param out  string of looks->names */
static bool find_name(struct looks *l, uint32_t pid, uint64_t time, uint32_t *out)
{
    static const uint64_t second_ns = 1000000000;
    struct look_name *known = &l->known_names[pid % LOOK_NAMES];
    char text[NAME + 32], name[NAME];

    if (known->pid == pid && time - known->time < second_ns) {
        *out = known->name;
        return true;
    }
    sfb_recorder_task_name((pid_t)pid, name, sizeof name);
    if (l->names.all.count >= NAMES_MOST)
        snprintf(text, sizeof text, "another process");
    else
        snprintf(text, sizeof text, "%s (pid %u)",
                 strcmp(name, "?") == 0 ? "a process that has ended" : name, pid);
    if (!report_strings_add(&l->names, text, out))
        return false;
    *known = (struct look_name){ pid, time, *out };
    return true;
}

/* An interrupt wakes threads up while any other thread is on the CPU. A soft one may run as it ends. */
static bool is_interrupt(const struct perf_sample *s, const struct wait_chain *chain)
{
    const uint8_t flags = s->raw[TRACEPOINT_FLAGS];

    return s->ids.tid == 0 || flags & (TRACEPOINT_HARDIRQ | TRACEPOINT_NMI) || chain->interrupt ||
           (flags & TRACEPOINT_SOFTIRQ && !chain->named);
}

/* Which thread a sample is of, that wakes another one up. @param out  written */
static bool find_waker(struct looks *l, const struct perf_layout *layout,
                       const struct perf_sample *sample, struct look_waker *out)
{
    struct look_process *p = look_process_of(l, (pid_t)sample->ids.pid);
    struct outside_place place = { .stack = 0 };
    struct sfb_context registers;
    struct wait_chain chain;
    uint32_t name;

    *out = (struct look_waker){ .time = sample->ids.time, .name = "" };
    wait_kernel_look(l->events->kernel, sample, &chain);
    if (is_interrupt(sample, &chain)) {
        out->name = "interrupt";
        return true;
    }
    if (sample->ids.pid == (uint32_t)getpid()) /* a look stops the thread, or its child */
        return true;
    if (!p) {
        if (!find_name(l, sample->ids.pid, sample->ids.time, &name))
            return false;
        out->name = l->names.all.at[name];
        return true;
    }
    /* Of an interpreter it has the functions of C: what it ran is read by looks alone. */
    if (!outside_place_sample(l->outside, layout, sample, &place, &registers))
        return false;
    out->stack = place.stack;
    return outside_thread_id(l->outside, sample->ids.pid, sample->ids.tid, sample->ids.time,
                             &out->thread);
}

/* @param tid  the thread that is woken up, which may be just about to stop */
static bool take_wake(struct looks *l, const struct perf_layout *layout,
                      const struct perf_sample *sample, pid_t tid)
{
    struct look_process *p;
    struct look_thread *t = look_thread_find(l, 0, tid, &p);

    if (!t || !look_has_own(t) || (t->wait.off != 0 && t->wait.woken.time != 0))
        return true;
    return find_waker(l, layout, sample, t->wait.off != 0 ? &t->wait.woken : &t->wait.early);
}

static bool take_sample(struct looks *l, const struct perf_record *record)
{
    const struct perf_layout *layout = &l->events->rings.layout;
    struct look_process *p;
    struct perf_sample sample;
    struct look_thread *t;
    uint64_t value;

    if (!look_events_allow(l))
        return true;
    if (!perf_sample_read(&sample, layout, record)) {
        outside_damaged(l->outside);
        return true;
    }
    if (tracepoint_read(&value, &l->events->waking, sample.raw, sample.raw_size))
        return take_wake(l, layout, &sample, (pid_t)value);
    if (!tracepoint_read(&value, &l->events->stop, sample.raw, sample.raw_size))
        value = 0;
    t = look_thread_find(l, (pid_t)sample.ids.pid, (pid_t)sample.ids.tid, &p);
    return !t || take_stop(l, p, t, layout, &sample, value);
}

bool look_switches_take(struct looks *l, const struct perf_record *record,
                        const struct perf_ids *ids)
{
    struct look_process *p;
    struct look_thread *t;

    if (l->paused)
        return true;
    if (record->type == PERF_RECORD_SAMPLE)
        return take_sample(l, record);
    if (record->type != PERF_RECORD_SWITCH)
        return true;
    t = look_thread_find(l, (pid_t)ids->pid, (pid_t)ids->tid, &p);
    if (t)
        return take_switch(l, p, t, ids->time, record->misc);
    p = look_process_of(l, (pid_t)ids->pid);
    if (p)
        p->turned = true;
    l->has_unknown |= !p && ids->pid != 0;
    return true;
}
