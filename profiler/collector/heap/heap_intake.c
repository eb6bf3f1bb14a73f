#include "profiler/collector/heap/heap_intake.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/grow.h"

#define ACQUIRE(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

static const uint64_t look_ns = 10000000, least_ns = 250000;

/* @return whether a signal arrived */
static bool wait_while(const uint32_t *at, uint32_t seen, uint64_t ns)
{
    const struct timespec limit = { .tv_sec = (time_t)(ns / 1000000000),
                                    .tv_nsec = (long)(ns % 1000000000) };

    return syscall(SYS_futex, at, FUTEX_WAIT, seen, &limit, NULL, 0) != 0 && errno == EINTR;
}

/*
 * A waiting thread stores `waiting` before the kernel checks tail for the last time. Both accesses here are sequentially
 * consistent and keep their order, so one of the two sides sees the other's store.
 */
static void give_back(struct sfb_shared_ring *shared, uint64_t tail)
{
    uint64_t *at = &shared->tail;

    __atomic_store_n(at, tail, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&shared->waiting, __ATOMIC_SEQ_CST) != 0)
        syscall(SYS_futex, (uint32_t *)(void *)at, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static uint8_t *room_for(struct sfb_heap_intake_ring *r, size_t size)
{
    return array_make_room_for(&r->bytes, &r->room, r->size + size) ? r->bytes + r->size : NULL;
}

static void copy(uint8_t *out, const struct sfb_shared_ring *shared, uint32_t ring_bytes,
                 uint64_t tail, size_t size)
{
    const size_t at = (size_t)(tail % ring_bytes);
    const size_t first = size < ring_bytes - at ? size : ring_bytes - at;

    memcpy(out, shared->data + at, first);
    memcpy(out + first, shared->data, size - first);
}

/*
 * Called with the lock held. Copies all that was published, or nothing.
 *
 * @param most  limit of `behind` after the copy
 * @return bytes copied
 */
static size_t take_in(struct sfb_heap_intake *in, uint32_t slot, size_t most)
{
    struct sfb_shared_ring *shared = sfb_shared_ring(in->shared, in->ring_bytes, slot);
    struct sfb_heap_intake_ring *r = &in->ring[slot];
    const uint64_t head = ACQUIRE(shared->head), size = head - r->tail;
    uint8_t *out;

    if (size == 0)
        return 0;
    if (size > in->ring_bytes || head % 8 != 0) {
        r->bad = true;
        r->tail = head - head % 8;
        in->behind -= r->size;
        r->size = 0;
        r->position = r->tail;
        give_back(shared, r->tail);
        return 0;
    }
    if (size > r->most)
        r->most = (size_t)size;
    if (in->behind + size > most || (out = room_for(r, (size_t)size)) == NULL)
        return 0;
    copy(out, shared, in->ring_bytes, r->tail, (size_t)size);
    r->size += (size_t)size;
    in->behind += (size_t)size;
    r->tail = head;
    give_back(shared, head);
    return (size_t)size;
}

/* --- the thread ---------------------------------------------------------------------------------- */

/* Uses little time, but threads of the program wait for it: runs before all others if that is allowed. */
static void raise_priority(void)
{
    const struct sched_param first = { .sched_priority = 1 };

    if (pthread_setschedparam(pthread_self(), SCHED_RR, &first) != 0)
        setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -15);
}

/* Looks again soon while rings fill fast: a ring may be full before an agent has woken this thread. */
static void *run(void *argument)
{
    struct sfb_heap_intake *in = argument;
    uint64_t pause = look_ns;

    raise_priority();
    while (!ACQUIRE(in->ends)) {
        const uint32_t seen = ACQUIRE(in->shared->wake);
        size_t most = 0;

        pthread_mutex_lock(&in->lock);
        for (uint32_t i = 0; i < in->ring_end; i++) {
            const size_t size = in->ring[i].taken_in ? take_in(in, i, SFB_HEAP_BEHIND_MAX) : 0;

            most = size > most ? size : most;
        }
        pthread_mutex_unlock(&in->lock);
        if (most > in->ring_bytes / 4)
            pause = pause / 2 > least_ns ? pause / 2 : least_ns;
        else if (most < in->ring_bytes / 16)
            pause = 2 * pause < look_ns ? 2 * pause : look_ns;
        wait_while(&in->shared->wake, seen, pause);
        if (ACQUIRE(in->shared->wake) == seen)
            continue;
        __atomic_fetch_add(&in->woken, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &in->woken, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

/* Priority inheritance: the holder of the lock runs as soon as the thread that waits for it. */
static void make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t inherits;

    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    if (pthread_mutex_init(lock, &inherits) != 0)
        pthread_mutex_init(lock, NULL);
    pthread_mutexattr_destroy(&inherits);
}

void sfb_heap_intake_open(struct sfb_heap_intake *in, struct sfb_shared *shared,
                          uint32_t ring_bytes, bool own_thread)
{
    sigset_t all, before;

    in->shared = shared;
    in->ring_bytes = ring_bytes;
    make_lock(&in->lock);
    if (!own_thread)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    in->running = pthread_create(&in->thread, NULL, run, in) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sfb_heap_intake_close(struct sfb_heap_intake *in)
{
    if (in->running) {
        __atomic_store_n(&in->ends, true, __ATOMIC_RELEASE);
        __atomic_fetch_add(&in->shared->wake, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &in->shared->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        pthread_join(in->thread, NULL);
    }
    for (uint32_t i = 0; i < SFB_SHARED_RING_MAX; i++)
        free(in->ring[i].bytes);
    pthread_mutex_destroy(&in->lock);
}

/* --- interface ----------------------------------------------------------------------------------- */

void sfb_heap_intake_begin(struct sfb_heap_intake *in, uint32_t slot)
{
    pthread_mutex_lock(&in->lock);
    in->ring[slot].taken_in = true;
    in->ring[slot].tail = in->ring[slot].position = 0;
    if (slot >= in->ring_end)
        in->ring_end = slot + 1;
    pthread_mutex_unlock(&in->lock);
}

void sfb_heap_intake_end(struct sfb_heap_intake *in, uint32_t slot)
{
    pthread_mutex_lock(&in->lock);
    free(in->ring[slot].bytes);
    in->behind -= in->ring[slot].size;
    in->ring[slot] = (struct sfb_heap_intake_ring){ 0 };
    pthread_mutex_unlock(&in->lock);
}

/* Takes some ns, unless the thread was stopped just then. */
bool sfb_heap_intake_is_busy(const struct sfb_heap_intake *in, uint32_t slot)
{
    enum { LOOKS = 400 };
    const struct sfb_shared_ring *shared = sfb_shared_ring(in->shared, in->ring_bytes, slot);

    for (int i = 0; i < LOOKS; i++)
        if (__atomic_load_n(&shared->busy, __ATOMIC_SEQ_CST) == 0)
            return false;
    return true;
}

bool sfb_heap_intake_take(struct sfb_heap_intake *in, uint32_t slot,
                          struct sfb_heap_intake_ring *out, bool *whole)
{
    const struct sfb_shared_ring *shared = sfb_shared_ring(in->shared, in->ring_bytes, slot);
    struct sfb_heap_intake_ring *r = &in->ring[slot];
    uint64_t head;
    struct sfb_heap_intake_ring empty = *out;
    bool good;

    pthread_mutex_lock(&in->lock);
    head = ACQUIRE(shared->head);
    take_in(in, slot, SIZE_MAX);
    *whole = r->tail - head <= in->ring_bytes; /* later records are younger */
    good = !r->bad;
    *out = *r;
    r->bytes = empty.bytes;
    r->room = empty.room;
    r->size = r->most = 0;
    r->bad = false;
    r->position = r->tail;
    pthread_mutex_unlock(&in->lock);
    return good;
}

bool sfb_heap_intake_is_empty(struct sfb_heap_intake *in, uint32_t slot)
{
    const struct sfb_shared_ring *shared = sfb_shared_ring(in->shared, in->ring_bytes, slot);
    bool empty;

    pthread_mutex_lock(&in->lock);
    empty = in->ring[slot].size == 0 && in->ring[slot].tail == ACQUIRE(shared->head);
    pthread_mutex_unlock(&in->lock);
    return empty;
}

void sfb_heap_intake_read(struct sfb_heap_intake *in, size_t size)
{
    pthread_mutex_lock(&in->lock);
    in->behind -= size;
    pthread_mutex_unlock(&in->lock);
}

bool sfb_heap_intake_wait(const struct sfb_heap_intake *in, uint32_t seen, uint64_t ns)
{
    return wait_while(&in->woken, seen, ns);
}
