#include "profiler/agent/cpu/timer.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/random.h"

/*
 * The period is the requested one, even if the tick is longer: so each tick finds the timer expired. With the tick as
 * period, a timer of a thread that shares its processor barely misses every other tick.
 *
 * The first expiry is random: the tick that notices it lies in (0, period]. So threads that live for less than a period
 * are sampled as often as they should be. A tick longer than the period gives the first tick a sample; a thread of half a
 * tick then has a sample every other time.
 */
static uint64_t first_expiry(uint64_t period, uint64_t tick, uint64_t seed)
{
    const uint64_t after = sfb_random_below(period, seed);
    const uint64_t ticks = tick > 0 ? after - after % tick : after;

    return ticks > 0 ? ticks : 1;
}

static void arm(int32_t timer, uint64_t first, uint64_t period)
{
    struct itimerspec when = { .it_value = sfb_timespec(first),
                               .it_interval = sfb_timespec(period) };

    syscall(SYS_timer_settime, timer, 0, &when, NULL);
}

void sfb_timer_start(struct sfb_thread *t)
{
    struct sigevent event;
    uint64_t period = sfb_agent.period_ns;
    int32_t timer;

    if (!sfb_agent_may_use(SFB_ENGINE_TIMER))
        return;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = (int)sfb_agent.shared->signal;
    event.sigev_value.sival_ptr = t;
    /* glibc 2.36 has no public name for the kernel's member sigev_notify_thread_id. */
    event._sigev_un._tid = t->tid;
    if (syscall(SYS_timer_create, sfb_clock_of_thread(t->tid), &event, &timer) != 0) {
        __atomic_fetch_add(&t->ring->lost[SFB_LOSS_NO_TIMER], 1, __ATOMIC_RELAXED);
        return;
    }
    t->ring->engine = SFB_ENGINE_TIMER;
    t->timer_runs = t->timer_near = 1;
    __atomic_store_n(&t->timer, timer, __ATOMIC_SEQ_CST);
    arm(timer,
        first_expiry(period, __atomic_load_n(&sfb_agent.process->tick_ns, __ATOMIC_RELAXED),
                     sfb_now() ^ (uint64_t)t->tid << 32),
        period);
}

void sfb_timer_look_for_kernel(struct sfb_thread *t, bool owed, uint64_t period)
{
    enum { PATIENCE = 3 };
    const int32_t timer = __atomic_load_n(&t->timer, __ATOMIC_ACQUIRE);

    if (timer < 0 || (owed && t->timer_near))
        return;
    t->timer_runs = 1;
    t->timer_near = owed;
    arm(timer, owed ? 1 : PATIENCE * period, period);
}

void sfb_timer_disarm(struct sfb_thread *t)
{
    /* Another thread may delete the timer at the same time: the kernel then refuses the call. */
    const int32_t timer = __atomic_load_n(&t->timer, __ATOMIC_ACQUIRE);

    if (timer < 0 || !t->timer_runs)
        return;
    t->timer_runs = 0;
    arm(timer, 0, 0);
}

void sfb_timer_delete(struct sfb_thread *t)
{
    const int32_t timer = __atomic_exchange_n(&t->timer, -1, __ATOMIC_RELAXED);

    if (timer >= 0)
        syscall(SYS_timer_delete, timer);
}
