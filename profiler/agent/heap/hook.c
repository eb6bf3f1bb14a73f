#include "profiler/agent/heap/hook.h"

#include <errno.h>

#include "profiler/agent/heap/lifecycle.h"
#include "profiler/agent/heap/thread_state.h"

static bool is_on(enum sfb_heap_mode mode)
{
    return mode == SFB_HEAP_EVERY || mode == SFB_HEAP_SAMPLED;
}

struct sfb_heap_thread *sfb_heap_enter_slowly(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    struct sfb_heap_thread *t = local->thread;
    const bool nested = local->state == SFB_HEAP_IN_CALL;
    const int before = errno;

    if (sfb_heap_mode() == SFB_HEAP_UNDECIDED)
        sfb_heap_process_look();
    if (!is_on(sfb_heap_mode()) || local->state == SFB_HEAP_IN_NEW)
        return NULL;
    /*
     * Only AT_WORK holds the ring. In IN_CALL it is free: the allocator may call itself by name, or a signal handler may
     * run.
     */
    if (local->state == SFB_HEAP_AT_WORK) {
        sfb_agent_lose(SFB_LOSS_NESTED);
        return NULL;
    }
    if (!*sfb_heap.here)
        return NULL;
    if (t) {
        t->nested |= nested;
        return t;
    }
    local->state = SFB_HEAP_AT_WORK;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t = sfb_heap_thread_begin();
    if (t)
        t->nested |= nested;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local->state = SFB_HEAP_IDLE;
    errno = before;
    return t;
}

struct sfb_heap_thread *sfb_heap_sample(size_t size)
{
    struct sfb_heap_local *local = &sfb_heap_local;

    if (local->state > SFB_HEAP_IN_CALL)
        return NULL;
    if (local->random == 0)
        local->until = sfb_heap_next_gap();
    if (size < local->until) {
        local->until -= size + 1;
        return NULL;
    }
    local->until = sfb_heap_next_gap();
    return sfb_heap_enter(local);
}

bool sfb_heap_follow(struct sfb_heap_thread *t, const void *block)
{
    if (sfb_heap_sample_add(block))
        return true;
    sfb_heap_lose(t, SFB_LOSS_HEAP_EVENTS);
    return false;
}
