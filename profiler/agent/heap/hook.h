/*
 * Common part of the hooks: whether a call is recorded, and what is written before and after it.
 *
 *     struct sfb_heap_thread *t = sfb_heap_alloc_begin(size);
 *     void *block = sfb_heap_next.malloc(size);
 *
 *     if (t)
 *         sfb_heap_alloc_end(t, SFB_HEAP_ALLOC, block, size, caller);
 */
#ifndef PROFILER_AGENT_HEAP_HOOK_H
#define PROFILER_AGENT_HEAP_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/heap/event.h"
#include "profiler/agent/heap/heap_sample.h"
#include "profiler/agent/heap/heap_stack.h"
#include "profiler/agent/heap/next.h"
#include "profiler/agent/heap/pool.h"
#include "profiler/agent/heap/tail.h"
#include "profiler/agent/heap/usable.h"

/* sfb_heap_enter() outside the common case. Signals: safe; errno is preserved. */
struct sfb_heap_thread *sfb_heap_enter_slowly(void);

/* @return the calling thread's state; NULL: not recorded now */
static inline struct sfb_heap_thread *sfb_heap_enter(struct sfb_heap_local *local)
{
    struct sfb_heap_thread *t = local->thread;

    if (sfb_heap_mode() == SFB_HEAP_OFF)
        return NULL;
    if (__builtin_expect(local->state == SFB_HEAP_IDLE && t && *sfb_heap.here, 1) &&
        sfb_heap_mode() != SFB_HEAP_UNDECIDED)
        return t;
    return sfb_heap_enter_slowly();
}

/* As sfb_heap_enter(), for an allocation in mode SAMPLED. @return NULL also if the block is no sample */
struct sfb_heap_thread *sfb_heap_sample(size_t size);

static inline struct sfb_heap_thread *sfb_heap_alloc_begin_as(size_t size,
                                                              enum sfb_heap_state state)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    struct sfb_heap_thread *t =
        sfb_heap_mode() == SFB_HEAP_SAMPLED ? sfb_heap_sample(size) : sfb_heap_enter(local);

    if (!t || __builtin_expect(sfb_agent_paused() != SFB_SHARED_RUNS, 0))
        return NULL;
    local->state = state;
    return t;
}

static inline struct sfb_heap_thread *sfb_heap_alloc_begin(size_t size)
{
    return sfb_heap_alloc_begin_as(size, SFB_HEAP_IN_CALL);
}

/* @return whether the block is followed: the table of samples has a free entry */
bool sfb_heap_follow(struct sfb_heap_thread *thread, const void *block);

/* @param block  NULL: the allocation failed */
static inline void sfb_heap_alloc_end(struct sfb_heap_thread *t, enum sfb_shared_heap_record kind,
                                      void *block, size_t size, const struct sfb_regs *caller)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    size_t usable;

    if (__builtin_expect(block != NULL, 1)) {
        usable = sfb_heap_usable_fresh(block);
        local->state = SFB_HEAP_AT_WORK;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (sfb_heap_mode() != SFB_HEAP_SAMPLED || sfb_heap_follow(t, block))
            sfb_heap_put_alloc(t, kind, block, size, usable > size ? usable - size : 0,
                               sfb_heap_stack(t, caller));
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    local->state = SFB_HEAP_IDLE;
}

/* Returned instead of a thread if nothing is recorded but the caller has to reset the state. */
#define SFB_HEAP_NO_RING ((struct sfb_heap_thread *)(void *)&sfb_heap_local)

/*
 * A block, not NULL, is about to be freed.
 *
 * @return as sfb_heap_alloc_begin(): the caller sets the state IDLE after the free
 */
static inline struct sfb_heap_thread *sfb_heap_free_begin(enum sfb_shared_heap_record kind,
                                                          void *block, enum sfb_heap_state state)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    struct sfb_heap_thread *t;

    if (sfb_heap_mode() >= SFB_HEAP_SAMPLED) {
        if (sfb_heap_mode() == SFB_HEAP_TABLE)
            return sfb_heap_tail_freed(block, state) ? SFB_HEAP_NO_RING : NULL;
        if (!sfb_heap_sample_take(block))
            return NULL;
    }
    t = sfb_heap_enter(local);
    if (!t || __builtin_expect(sfb_agent_paused() == SFB_SHARED_NOT_STARTED, 0))
        return NULL;
    local->state = SFB_HEAP_AT_WORK;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sfb_heap_put_free(t, kind, block);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local->state = state;
    return t;
}

static inline void sfb_heap_free_end(void)
{
    sfb_heap_local.state = SFB_HEAP_IDLE;
}

#endif
