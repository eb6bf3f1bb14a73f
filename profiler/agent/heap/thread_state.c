#include "profiler/agent/heap/thread_state.h"

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/heap/heap_sample.h"
#include "profiler/agent/space_map.h"

enum {
    KEYS_IN_THREAD = 32,
    ROUNDS = 3,     /* of the C library's four: later destructors lose nothing by it */
    TRY_EVERY = 256 /* events without a ring: another thread may have given its ring back */
};

/* For a ring, in all: a recorder that was woken on a machine with a load of 100 runs within half a second. */
#define WAIT_NS ((uint64_t)3000000000)
#define LOOK_NS                                                                                    \
    ((uint64_t)10000000) /* the ring that is waited for may not be the first to be free */

static pthread_key_t key;
static bool has_key;

/*
 * Keeps the ring: other destructors, and the C library itself, still free. The recorder takes it back when the thread is
 * gone.
 */
static void on_end(void *value)
{
    struct sfb_heap_thread *t = value;

    if (!sfb_agent_is_here() || t != sfb_heap_local.thread || t->ended)
        return;
    if (++t->rounds < ROUNDS && pthread_setspecific(key, t) == 0)
        return;
    sfb_heap_local.state = SFB_HEAP_AT_WORK;
    sfb_heap_look_at_name(t);
    t->ended = true;
    t->ring->end = sfb_now();
    t->ring->cpu_end = sfb_clock(CLOCK_THREAD_CPUTIME_ID);
    __atomic_store_n(&t->ring->state, SFB_SLOT_ENDED, __ATOMIC_RELEASE);
    sfb_heap_local.state = SFB_HEAP_IDLE;
}

bool sfb_heap_threads_prepare(void)
{
    sfb_heap.threads = sfb_space_map_threads();
    if (!sfb_heap.threads)
        return false;
    has_key = pthread_key_create(&key, on_end) == 0;
    return has_key;
}

static struct sfb_heap_thread *claim(void)
{
    struct sfb_heap_thread *t;
    uint32_t i;

    if (!sfb_agent_claim_ring(&i))
        return NULL;
    t = &sfb_heap.threads[i];
    memset(t, 0, offsetof(struct sfb_heap_thread, namer));
    memset(t->namer.memo, 0, SFRAME_BACKTRACE_MEMO_BASE); /* it was for another stack */
    if (sfb_python_is_linked())
        memset(&t->python, 0, offsetof(struct sfb_python_thread, calls)); /* of another thread */
    t->ring = sfb_agent_ring(i);
    return t;
}

static struct sfb_heap_thread *try_to_claim(void)
{
    struct sfb_heap_thread *t;

    sfb_agent_enter();
    t = claim();
    sfb_agent_leave();
    return t;
}

/* @return a ring that the recorder is about to give back, for its thread has ended; NULL: all threads live */
static struct sfb_shared_ring *find_ended(void)
{
    const uint32_t end = sfb_agent_ring_end();

    for (uint32_t i = sfb_agent_ring_first(); i < end; i++)
        if (__atomic_load_n(&sfb_agent_ring(i)->state, __ATOMIC_RELAXED) == SFB_SLOT_ENDED)
            return sfb_agent_ring(i);
    return NULL;
}

static bool in_vain; /* a thread has waited, and got no ring; nor has another since */

/* The recorder gives back the rings of ended threads when it runs. */
static struct sfb_heap_thread *wait_for_ring(void)
{
    const struct timespec look = sfb_timespec(LOOK_NS);
    const uint64_t end = sfb_now() + WAIT_NS;
    struct sfb_heap_thread *t = NULL;
    struct sfb_shared_ring *ended;

    if (__atomic_load_n(&in_vain, __ATOMIC_RELAXED) && !sfb_heap.waits)
        return NULL;
    sfb_agent_lose(SFB_LOSS_HEAP_WAITS);
    while (!sfb_agent_is_over() && (sfb_heap.waits || sfb_now() < end) &&
           (ended = find_ended()) != NULL && (t = try_to_claim()) == NULL) {
        sfb_agent_wake_recorder();
        syscall(SYS_futex, &ended->state, FUTEX_WAIT, SFB_SLOT_ENDED, &look, NULL, 0);
    }
    return t ? t : try_to_claim();
}

/* An ended thread still frees: its ring is in use until the recorder has taken it back. */
static bool is_used(const struct sfb_heap_thread *t)
{
    return t->ring &&
           (!t->ended || __atomic_load_n(&t->ring->state, __ATOMIC_RELAXED) != SFB_SLOT_FREE);
}

static struct sfb_space_range used_rings(struct sfb_space_range mapped)
{
    struct sfb_space_range used = { 0, 0 };

    for (uint32_t i = mapped.first; i < mapped.end; i++)
        if (is_used(&sfb_heap.threads[i])) {
            used.first = used.end == 0 ? i : used.first;
            used.end = i + 1;
        }
    return used;
}

static size_t tables(const struct sfb_shared *shared)
{
    return SFB_HEAP_KNOWN * sizeof *sfb_heap.known +
           (shared->heap_rate ? sfb_heap_samples_size() : 0);
}

const struct sfb_space_kind sfb_heap_space = { .thread_size = sizeof(struct sfb_heap_thread),
                                               .tables = tables,
                                               .used = used_rings };

static void fill(struct sfb_heap_thread *t)
{
    struct sfb_shared_ring *ring = t->ring;

    t->tid = (pid_t)syscall(SYS_gettid);
    ring->process = sfb_agent.slot;
    ring->pid = (uint32_t)sfb_agent.pid;
    ring->tid = (uint32_t)t->tid;
    ring->start = sfb_now();
    ring->cpu_start = ring->cpu_sampled = sfb_clock(CLOCK_THREAD_CPUTIME_ID);
    ring->end = ring->cpu_end = 0;
    memset(ring->lost, 0, sizeof ring->lost);
    ring->engine = SFB_ENGINE_NONE;
    ring->event = ring->event_fd = 0;
    ring->tail = ring->head = 0;
    ring->busy = ring->waiting = 0;
    prctl(PR_GET_NAME, t->name);
    memcpy(ring->name, t->name, sizeof ring->name);
    t->at = t->limit = ring->data;
    t->bias = 0 - (uint64_t)(uintptr_t)ring->data;
}

/* Without a ring, each event is a loss. */
static bool may_try(struct sfb_heap_local *local)
{
    if (local->refused == 0 || local->refused % TRY_EVERY == 0)
        return true;
    local->refused++;
    sfb_agent_lose(SFB_LOSS_HEAP_EVENTS);
    return false;
}

struct sfb_heap_thread *sfb_heap_thread_begin(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    struct sfb_heap_thread *t;

    if (!sfb_agent_is_here() || sfb_agent_is_over() || !may_try(local))
        return NULL;
    t = try_to_claim();
    if (!t && local->refused == 0)
        t = wait_for_ring();
    __atomic_store_n(&in_vain, t == NULL, __ATOMIC_RELAXED);
    if (!t) {
        if (local->refused == 0)
            sfb_agent_lose(SFB_LOSS_NO_RING);
        local->refused++;
        sfb_agent_lose(SFB_LOSS_HEAP_EVENTS);
        return NULL;
    }
    fill(t);
    local->refused = 0;
    local->thread = t;
    /* Values of the first keys are stored in the thread itself; later ones would be allocated. */
    if (has_key && key < KEYS_IN_THREAD)
        pthread_setspecific(key, t);
    __atomic_store_n(&t->ring->state, SFB_SLOT_LIVE, __ATOMIC_RELEASE);
    sfb_agent_wake_recorder();
    return t;
}

void sfb_heap_threads_forget(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;

    sfb_agent.at_work = 0; /* other threads were at work in the parent, and do not exist here */
    sfb_space_clear_threads();
    local->thread = NULL;
    local->refused = 0;
    if (has_key)
        pthread_setspecific(key, NULL);
}
