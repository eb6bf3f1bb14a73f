#include "record/timer.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/clocks.h"

/*
 * The period is the one that was asked for, even where the tick is longer: so each tick finds the timer expired. With
 * the tick as its period a timer of a thread that shares its processor misses every other one, by a little.
 *
 * The first expiry lies in (0, period], at random: threads that live for less than a period are sampled, too.
 */
static uint64_t random_below(uint64_t period, uint64_t seed)
{
    /* A step of splitmix64. */
    uint64_t z = seed + 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) % period + 1;
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
    /* glibc 2.36 has no public name for the member that the kernel calls so. */
    event._sigev_un._tid = t->tid;
    if (syscall(SYS_timer_create, sfb_clock_of_thread(t->tid), &event, &timer) != 0) {
        __atomic_fetch_add(&t->ring->lost[SFB_LOSS_NO_TIMER], 1, __ATOMIC_RELAXED);
        return;
    }
    t->ring->engine = SFB_ENGINE_TIMER;
    t->timer_runs = t->timer_near = 1;
    __atomic_store_n(&t->timer, timer, __ATOMIC_SEQ_CST);
    arm(timer, random_below(period, sfb_now() ^ (uint64_t)t->tid << 32), period);
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
    /* Another thread may delete it meanwhile: the kernel then refuses what comes here. */
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
