#include "record/weight.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/machine.h"

/* Of periods: for more than that a sample does not stand, unless a system call has just returned. */
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

/* What the kernel's tick does to timers: none expires in between. */
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
 * Whether the thread has left the kernel after a page fault at which a tick came: faults were taken, and the tick
 * counted as the system's. It is asked at each tick, or it cannot be told: what came before is in the counts, too.
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

/* The event's signal. Where periods passed without one, the thread was in the kernel. */
static void weigh_event(struct sfb_weight *w, const void *context, uint64_t passed, uint64_t period)
{
    const bool much = passed > BELIEVED * larger(period, tick());

    w->ns = passed;
    w->sampled += passed;
    /* Nearly one, or the signal was blocked: the time is this code's. */
    if (passed < period + period / 2 || (much && sfb_machine_is_behind_call(context)))
        return;
    w->ns = period;
    w->late = much;
    w->owed += much ? 0 : passed - period;
}

/* A tick, where an event samples what is not in the kernel. */
static void weigh_kernel(struct sfb_weight *w, struct sfb_thread *t, const void *context,
                         uint64_t cpu, uint64_t period)
{
    const uint64_t passed = cpu - t->sampled, whole = passed - passed % period;
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
 * Between two samples by the timer, in the mean. On a busy machine many a tick falls to other threads: that is the rate
 * that is reached.
 */
static void note_gap(struct sfb_thread *t, const struct sfb_weight *w)
{
    enum { PART = 8 };

    if (!w->late)
        t->gap += w->ns / PART - t->gap / PART;
}

/* Without an event: what has passed, if that can be. */
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
    if (engine == SFB_ENGINE_TIMER && t->has_event) {
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
