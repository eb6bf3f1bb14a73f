#include "profiler/agent/cpu/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/helper.h"
#include "profiler/agent/cpu/own_tasks.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/random.h"
#include "profiler/agent/real.h"

#define PERIOD_MIN_NS ((uint64_t)1000000)   /* between checks: one costs 0.2 us a thread */
#define SCAN_NS       ((uint64_t)100000000) /* between scans of /proc/self/task */

enum { STACK = 64 * 1024, STACK_MOST = 64 << 20, STRANGERS = 256, LATE = 8 };

static uint32_t runs_for; /* its sfb_agent.generation; 0: no sampler */

/* Sends a thread our signal, with its struct sfb_thread as the value; see sfb_thread.notified. */
static void notify(struct sfb_thread *t)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = (int)sfb_agent.shared->signal;
    info.si_code = SI_QUEUE;
    info.si_pid = sfb_agent.pid;
    info.si_value.sival_ptr = t;
    __atomic_store_n(&sfb_agent.has_notified, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&t->notified, 1, __ATOMIC_RELEASE);
    syscall(SYS_rt_tgsigqueueinfo, sfb_agent.pid, t->tid, info.si_signo, &info);
}

/* False for a waiting thread, whose call the signal would end. Without /proc: true. */
static bool may_run(pid_t tid)
{
    const char state = sfb_task_state(tid);

    return state == 'R' || state == 0;
}

/*
 * Notifies threads that ran for most of the last period, and still run as far as /proc shows: the signal then interrupts
 * no waiting call. Threads with short bursts are notified once much CPU time has added up. The first check of a thread
 * comes after a random part of a period, and takes the thread as it is.
 */
static void look_at(struct sfb_thread *t, uint64_t period)
{
    const uint64_t sampled = __atomic_load_n(&t->sampled, __ATOMIC_RELAXED);
    uint64_t cpu = sfb_clock(sfb_clock_of_thread(t->tid)), moved;
    bool first;

    if (cpu == 0) {
        sfb_thread_end(t); /* ended unnoticed */
        return;
    }
    moved = cpu - t->looked_at;
    first = moved > 0 && sampled == __atomic_load_n(&t->ring->cpu_start, __ATOMIC_RELAXED);
    __atomic_store_n(&t->looked_at, cpu, __ATOMIC_RELAXED);
    __atomic_store_n(&t->moved, moved, __ATOMIC_RELAXED);
    __atomic_store_n(&t->ring->engine, SFB_ENGINE_SAMPLER, __ATOMIC_RELAXED);
    if ((first || (cpu - sampled >= period && moved >= period / 2) ||
         (cpu - sampled >= LATE * period && moved > 0)) &&
        may_run(t->tid))
        notify(t);
}

static void look_at_all(uint64_t period)
{
    for (uint32_t i = sfb_agent_ring_first(); i < sfb_agent_threads_used(); i++) {
        struct sfb_thread *t = &sfb_agent.threads[i];

        if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == SFB_THREAD_LIVE &&
            __atomic_load_n(&t->timer, __ATOMIC_RELAXED) < 0 &&
            __atomic_load_n(&t->ring->event, __ATOMIC_RELAXED) != 1)
            look_at(t, period);
    }
}

/* --- unregistered threads ----------------------------------------------------------------------- */

static bool has_had_ring(pid_t tid)
{
    for (uint32_t i = sfb_agent_ring_first(); i < sfb_agent_threads_used(); i++)
        if (__atomic_load_n(&sfb_agent.threads[i].tid, __ATOMIC_RELAXED) == tid)
            return true;
    return false;
}

/* Threads without a ring at this scan and the last. New ones may be about to take their rings themselves. */
struct scan {
    pid_t self, before[STRANGERS], now[STRANGERS];
    unsigned count;
};

static void adopt(pid_t tid, void *with)
{
    struct scan *s = with;

    if (tid == s->self || has_had_ring(tid) || s->count == STRANGERS)
        return;
    s->now[s->count++] = tid;
    for (unsigned i = 0; i < STRANGERS && s->before[i]; i++)
        if (s->before[i] == tid) {
            sfb_thread_begin_other(tid, 0);
            return;
        }
}

static void look_for_strangers(struct scan *s)
{
    memset(s->now, 0, sizeof s->now);
    s->count = 0;
    sfb_tasks(adopt, s);
    memcpy(s->before, s->now, sizeof s->before);
}

/* @return false: this sampler's recording is over */
static bool turn(uint32_t generation, uint64_t period, struct scan *strangers, uint64_t *next_scan)
{
    bool goes_on;

    sfb_agent_enter();
    goes_on = generation == __atomic_load_n(&sfb_agent.generation, __ATOMIC_ACQUIRE) &&
              !sfb_agent_is_over();
    if (goes_on) {
        look_at_all(period);
        if (sfb_now() >= *next_scan) {
            look_for_strangers(strangers);
            *next_scan = sfb_now() + SCAN_NS;
        }
    }
    sfb_agent_leave();
    return goes_on;
}

static void *run(void *with)
{
    uint64_t period = sfb_agent.period_ns > PERIOD_MIN_NS ? sfb_agent.period_ns : PERIOD_MIN_NS;
    const struct timespec pause = sfb_timespec(period),
                          before = sfb_timespec(sfb_random_below(period, sfb_now()));
    struct scan strangers = { .self = (pid_t)syscall(SYS_gettid) };
    uint64_t next_scan = sfb_now(), next_look = 0;
    uint32_t generation = (uint32_t)(uintptr_t)with;

    sfb_helper_begin(SFB_HELPER_SAMPLER, "sfb-sampler");
    nanosleep(&before, NULL);
    while (turn(generation, period, &strangers, &next_scan)) {
        if (sfb_helper_is_alone(&next_look)) {
            sfb_helper_leave();
            break;
        }
        nanosleep(&pause, NULL);
    }
    __atomic_compare_exchange_n(&runs_for, &generation, 0, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    return NULL;
}

/* The stack also holds static thread-local storage, which may be larger than the stack: EINVAL. */
static int create(uint32_t generation)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int cause = EINVAL;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (size_t size = STACK; cause == EINVAL && size <= STACK_MOST; size *= 4)
        if (pthread_attr_setstacksize(&attributes, size) == 0)
            cause = sfb_real()->pthread_create(&thread, &attributes, run,
                                               (void *)(uintptr_t)generation);
    pthread_attr_destroy(&attributes);
    return cause;
}

/* Blocks all signals before the thread begins: it must not handle the program's. */
void sfb_sampler_start_if_needed(void)
{
    uint32_t generation = sfb_agent.generation;
    sigset_t all, old;

    if (!__atomic_load_n(&sfb_agent.wants_sampler, __ATOMIC_RELAXED) || sfb_agent_is_over() ||
        __atomic_exchange_n(&runs_for, generation, __ATOMIC_ACQ_REL) == generation)
        return;
    sigfillset(&all);
    sfb_real()->pthread_sigmask(SIG_SETMASK, &all, &old);
    if (create(generation) != 0) {
        __atomic_store_n(&runs_for, 0, __ATOMIC_RELEASE);
        sfb_agent_lose(SFB_LOSS_NO_TIMER);
    }
    sfb_real()->pthread_sigmask(SIG_SETMASK, &old, NULL);
}
