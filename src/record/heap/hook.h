/*
 * What is the same in all hooks: whether a call is recorded, and what is written before and behind it.
 *
 *     struct sfb_heap_thread *t = sfb_heap_alloc_begin(size);
 *     void *block = sfb_heap_next.malloc(size);
 *
 *     if (t)
 *         sfb_heap_alloc_end(t, SFB_HEAP_ALLOC, block, size, caller);
 */
#ifndef SFB_RECORD_HEAP_HOOK_H
#define SFB_RECORD_HEAP_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/heap/event.h"
#include "record/heap/next.h"
#include "record/heap/pool.h"
#include "record/heap/sample.h"
#include "record/heap/tail.h"

/* sfb_heap_enter() where it is not what it always is. Signals: safe; errno is left alone. */
struct sfb_heap_thread *sfb_heap_enter_slowly(void);

/* @return the calling thread's ring; NULL: nothing is recorded now */
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

/* The same for a block that is to be allocated: it may be no sample. */
struct sfb_heap_thread *sfb_heap_sample(size_t size);

static inline struct sfb_heap_thread *sfb_heap_alloc_begin_as(size_t size,
                                                              enum sfb_heap_state state)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    struct sfb_heap_thread *t =
        sfb_heap_mode() == SFB_HEAP_SAMPLED ? sfb_heap_sample(size) : sfb_heap_enter(local);

    if (t)
        local->state = state;
    return t;
}

static inline struct sfb_heap_thread *sfb_heap_alloc_begin(size_t size)
{
    return sfb_heap_alloc_begin_as(size, SFB_HEAP_IN_CALL);
}

/* @return whether it is followed: there is a place for it among the samples */
bool sfb_heap_follow(struct sfb_heap_thread *thread, const void *block);

/* @param block  NULL: there was no memory */
static inline void sfb_heap_alloc_end(struct sfb_heap_thread *t, enum sfb_shared_heap_record kind,
                                      void *block, size_t size, const struct sfb_regs *caller)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    size_t usable;

    if (__builtin_expect(block != NULL, 1)) {
        usable = sfb_heap_next.malloc_usable_size(block);
        local->state = SFB_HEAP_AT_WORK;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (sfb_heap_mode() != SFB_HEAP_SAMPLED || sfb_heap_follow(t, block))
            sfb_heap_put_alloc(t, kind, block, size, usable > size ? usable - size : 0,
                               sfb_heap_stack(t, caller));
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    local->state = SFB_HEAP_IDLE;
}

/* Stands for a thread where nothing is recorded, but the state has been set. */
#define SFB_HEAP_NO_RING ((struct sfb_heap_thread *)(void *)&sfb_heap_local)

/*
 * A block that is not NULL is about to be freed.
 *
 * @return as sfb_heap_alloc_begin(): the caller sets the state IDLE when it is freed
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
    if (!t)
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
