#include "profiler/agent/cpu/thread_life.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/ring_writer.h"
#include "profiler/agent/cpu/timer.h"

static void use(uint32_t number)
{
    uint32_t used = __atomic_load_n(&sfb_agent.threads_used, __ATOMIC_RELAXED);

    while (used <= number &&
           !__atomic_compare_exchange_n(&sfb_agent.threads_used, &used, number + 1, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static struct sfb_thread *claim_ring(void)
{
    uint32_t i;

    if (!sfb_agent_claim_ring(&i)) {
        sfb_agent_lose(SFB_LOSS_NO_RING);
        return NULL;
    }
    sfb_agent.threads[i].ring = sfb_agent_ring(i);
    use(i);
    return &sfb_agent.threads[i];
}

static void fill_ring(struct sfb_shared_ring *ring, pid_t tid, uint64_t cpu_start)
{
    ring->process = sfb_agent.slot;
    ring->pid = (uint32_t)sfb_agent.pid;
    ring->tid = (uint32_t)tid;
    ring->start = sfb_now();
    ring->cpu_start = ring->cpu_sampled = cpu_start;
    ring->end = ring->cpu_end = 0;
    memset(ring->lost, 0, sizeof ring->lost);
    ring->engine = SFB_ENGINE_NONE;
    ring->event = ring->event_fd = ring->event_came = ring->cost_ns = 0;
    ring->tail = ring->head = 0;
}

static struct sfb_thread *begin(pid_t tid, uint64_t cpu_start, bool own)
{
    struct sfb_thread *t = claim_ring();

    if (!t)
        return NULL;
    fill_ring(t->ring, tid, cpu_start);
    memset(t->name, 0, sizeof t->name);
    if (own)
        prctl(PR_GET_NAME, t->name);
    memcpy(t->ring->name, t->name, sizeof t->name);
    __atomic_store_n(&t->tid, tid, __ATOMIC_RELAXED); /* atomic: the sampler searches all tids */
    __atomic_store_n(&t->timer, -1, __ATOMIC_RELAXED);
    t->timer_runs = 0;
    t->head = 0;
    t->sampled = cpu_start;
    t->looked_at = cpu_start;
    t->owed = t->lost = t->moved = t->gap = 0;
    t->has_event = false;
    memset(&t->usage, 0, sizeof t->usage);
    t->notified = 0;
    t->deep_after = 0;
    t->samples = t->rounds = 0;
    /* The memo may be of the previous thread's stack. */
    memset(t->memo, 0, SFRAME_BACKTRACE_MEMO_BASE);
    __atomic_store_n(&t->state, SFB_THREAD_LIVE, __ATOMIC_RELEASE);
    sfb_timer_start(t);
    if (__atomic_load_n(&t->timer, __ATOMIC_RELAXED) < 0 && sfb_agent_may_use(SFB_ENGINE_SAMPLER))
        __atomic_store_n(&sfb_agent.wants_sampler, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&t->ring->state, SFB_SLOT_LIVE, __ATOMIC_RELEASE);
    /* The process is ending in another thread, which may have missed the new timer: that would fire for ever. */
    if (__atomic_load_n(&sfb_agent.ending, __ATOMIC_SEQ_CST)) {
        sfb_thread_end(t);
        sfb_timer_delete(t);
        __atomic_store_n(&t->ring->state, SFB_SLOT_ENDED, __ATOMIC_RELEASE);
    }
    sfb_agent_wake_recorder();
    return t;
}

struct sfb_thread *sfb_thread_own(void)
{
    struct sfb_thread_local *local = &sfb_thread_local;
    uint32_t generation = __atomic_load_n(&sfb_agent.generation, __ATOMIC_ACQUIRE);

    if (local->generation != generation) {
        local->thread = NULL;
        local->gone = false;
        local->generation = generation;
    }
    return local->thread;
}

struct sfb_thread *sfb_thread_begin(uint64_t cpu_start)
{
    struct sfb_thread_local *local = &sfb_thread_local;
    bool was_busy = local->busy;

    local->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sfb_agent_enter();
    if (!sfb_thread_own() && sfb_agent.others)
        local->thread = sfb_thread_of((pid_t)syscall(SYS_gettid));
    if (!local->thread && !sfb_agent_is_over())
        local->thread = begin((pid_t)syscall(SYS_gettid), cpu_start, true);
    if (!local->thread)
        local->gone = true;
    sfb_agent_leave();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local->busy = was_busy;
    return local->thread;
}

struct sfb_thread *sfb_thread_begin_other(pid_t tid, uint64_t cpu_start)
{
    struct sfb_thread *t;

    sfb_agent_enter();
    t = begin(tid, cpu_start, false);
    sfb_agent_leave();
    return t;
}

static struct sfb_thread *find_live(pid_t tid)
{
    for (uint32_t i = sfb_agent_ring_first(); i < sfb_agent_threads_used(); i++) {
        struct sfb_thread *t = &sfb_agent.threads[i];

        if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == SFB_THREAD_LIVE &&
            __atomic_load_n(&t->tid, __ATOMIC_RELAXED) == tid)
            return t;
    }
    return NULL;
}

struct sfb_thread *sfb_thread_of(pid_t tid)
{
    struct sfb_thread *t;

    sfb_agent_enter();
    t = find_live(tid);
    sfb_agent_leave();
    return t;
}

/* Ended threads count too: a thread may still have their address. */
static struct sfb_space_range used_rings(struct sfb_space_range mapped)
{
    const uint32_t end = sfb_agent_threads_used();
    uint32_t first = mapped.first;

    while (first < end &&
           __atomic_load_n(&sfb_agent.threads[first].state, __ATOMIC_ACQUIRE) == SFB_THREAD_NONE)
        first++;
    return first < end ? (struct sfb_space_range){ first, end } : (struct sfb_space_range){ 0, 0 };
}

const struct sfb_space_kind sfb_thread_space = { .thread_size = sizeof(struct sfb_thread),
                                                 .used = used_rings };

void sfb_thread_end(struct sfb_thread *t)
{
    const uint64_t sampled = __atomic_load_n(&t->sampled, __ATOMIC_RELAXED),
                   looked_at = __atomic_load_n(&t->looked_at, __ATOMIC_RELAXED);
    uint32_t expected = SFB_THREAD_LIVE;

    if (!__atomic_compare_exchange_n(&t->state, &expected, SFB_THREAD_ENDED, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    sfb_timer_delete(t);
    t->ring->end = sfb_now();
    t->ring->cpu_end = sfb_clock(sfb_clock_of_thread(t->tid));
    if (t->ring->cpu_end == 0) /* the thread is gone */
        t->ring->cpu_end = looked_at > sampled ? looked_at : sampled;
    __atomic_store_n(&t->ring->state, SFB_SLOT_ENDED, __ATOMIC_RELEASE);
}

void sfb_thread_end_all(void)
{
    sfb_agent_enter();
    for (uint32_t i = sfb_agent_ring_first(); i < sfb_agent_threads_used(); i++)
        if (__atomic_load_n(&sfb_agent.threads[i].state, __ATOMIC_ACQUIRE) == SFB_THREAD_LIVE)
            sfb_thread_end(&sfb_agent.threads[i]);
    sfb_agent_leave();
}

void sfb_thread_look_at_name(struct sfb_thread *t)
{
    char name[sizeof t->name] = "";

    if (prctl(PR_GET_NAME, name) != 0 || memcmp(name, t->name, sizeof name) == 0)
        return;
    if (sfb_ring_put_name(t, name))
        memcpy(t->name, name, sizeof name);
}
