#include "profiler/agent/cpu/weight.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/machine.h"

/* In periods: the most that a sample stands for, unless a system call has just returned. */
enum { BELIEVED = 10 };

#define TICK_MAX_NS ((uint64_t)100000000)

uint64_t sfb_weight_period(void)
{
    const uint64_t said = __atomic_load_n(&sfb_agent.shared->period_ns, __ATOMIC_RELAXED);

    return said > sfb_agent.period_ns ? said : sfb_agent.period_ns;
}

bool sfb_weight_has_event(const struct sfb_thread *t)
{
    return __atomic_load_n(&t->ring->event, __ATOMIC_RELAXED) == 1;
}

/* The kernel checks timers only at its tick: no timer expires in between. */
static uint64_t tick(void)
{
    const uint64_t ns = __atomic_load_n(&sfb_agent.process->tick_ns, __ATOMIC_RELAXED);

    return ns < TICK_MAX_NS ? ns : TICK_MAX_NS;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * Whether the thread is leaving the kernel after a page fault during which a tick came: it took faults, and the tick was
 * counted as system time. Called at each tick; else the counts would include earlier faults.
 */
static bool has_faulted(struct sfb_thread *t, uint64_t cpu)
{
    struct rusage usage;
    uint64_t system, faults;
    bool near, faulted;

    if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
        return false;
    system =
        (uint64_t)usage.ru_stime.tv_sec * 1000000000U + (uint64_t)usage.ru_stime.tv_usec * 1000U;
    faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
    near = cpu - t->usage.at <= tick() * 3;
    faulted = near && faults != t->usage.faults && system - t->usage.system >= tick() / 2;
    t->usage.at = cpu;
    t->usage.system = system;
    t->usage.faults = faults;
    return faulted;
}

/* At a signal of the event. Periods without one before it were spent in the kernel. */
static void weigh_event(struct sfb_weight *w, const void *context, uint64_t passed, uint64_t period)
{
    const bool much = passed > BELIEVED * larger(period, tick());

    w->ns = passed;
    w->sampled += passed;
    /* About one period, or the signal was blocked: this code spent the time. */
    if (passed < period + period / 2 || (much && sfb_machine_is_behind_call(context)))
        return;
    w->ns = period;
    w->late = much;
    w->owed += much ? 0 : passed - period;
}

/* At a tick, while an event samples user mode: whole periods, once the event has sent signals. */
static void weigh_kernel(struct sfb_weight *w, struct sfb_thread *t, const void *context,
                         uint64_t cpu, uint64_t period)
{
    const uint64_t passed = cpu - t->sampled,
                   whole = t->has_event ? passed - passed % period : passed;
    const bool faulted = has_faulted(t, cpu), called = sfb_machine_is_behind_call(context);

    if (w->owed + whole == 0 || (!called && !faulted) ||
        (called && sfb_machine_has_unblocked(context)))
        return;
    w->ns = w->owed + whole;
    w->sampled += whole;
    w->owed = 0;
    w->late = !called && w->ns > BELIEVED * larger(period, tick());
    if (w->late)
        w->ns = larger(period, tick());
}

/*
 * Moving average of the gap between two samples of the timer: the rate reached. On a busy machine many ticks fall into
 * other threads.
 */
static void note_gap(struct sfb_thread *t, const struct sfb_weight *w)
{
    enum { PART = 8 };

    if (!w->late)
        t->gap += w->ns / PART - t->gap / PART;
}

/* Without an event: the time passed, unless that is too much for one sample. */
static void weigh_alone(struct sfb_weight *w, const void *context, uint64_t passed,
                        uint64_t reached)
{
    w->ns = passed;
    w->sampled += passed;
    w->late = passed > BELIEVED * reached && !sfb_machine_is_behind_call(context);
    if (w->late)
        w->ns = reached;
}

struct sfb_weight sfb_weight_of(struct sfb_thread *t, enum sfb_recording_engine engine,
                                const void *context, uint64_t cpu)
{
    struct sfb_weight w = { .sampled = t->sampled, .owed = t->owed, .engine = engine };
    const uint64_t period = sfb_weight_period();

    if (cpu <= t->sampled)
        return w;
    if (engine == SFB_ENGINE_TIMER && (t->has_event || sfb_weight_has_event(t))) {
        w.engine = SFB_ENGINE_PERF;
        weigh_kernel(&w, t, context, cpu, period);
    } else if (engine == SFB_ENGINE_TIMER || (engine != SFB_ENGINE_SAMPLER && !t->has_event)) {
        t->has_event = engine != SFB_ENGINE_TIMER;
        weigh_alone(&w, context, cpu - t->sampled, larger(larger(period, tick()), t->gap));
        note_gap(t, &w);
    } else if (engine == SFB_ENGINE_SAMPLER) {
        weigh_alone(&w, context, cpu - t->sampled,
                    larger(period, __atomic_load_n(&t->moved, __ATOMIC_RELAXED)));
    } else {
        weigh_event(&w, context, cpu - t->sampled, period);
    }
    return w;
}
