#include "profiler/agent/heap/tail.h"

#include <stdint.h>

#include "profiler/agent/heap/lifecycle.h"
#include "profiler/agent/heap/next.h"
#include "profiler/agent/heap/usable.h"
#include "profiler/agent/live/live.h"
#include "profiler/agent/live/unknown.h"

#define SIZE_MOST ((size_t)PTRDIFF_MAX - SFB_LIVE_TAIL)

static void set_state(enum sfb_heap_state state)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sfb_heap_local.state = state;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Interposed functions that the allocator itself calls by name get the size they ask for, without a tail. */
size_t sfb_heap_tail_slowly(size_t size)
{
    if (sfb_heap_mode() == SFB_HEAP_UNDECIDED)
        sfb_heap_process_look();
    if (sfb_heap_mode() != SFB_HEAP_TABLE || sfb_heap_local.state != SFB_HEAP_IDLE ||
        size > SIZE_MOST)
        return 0;
    set_state(SFB_HEAP_IN_CALL);
    return size < sfb_live_large ? (size_t)SFB_LIVE_TAIL : (size_t)SFB_HEAP_BESIDE;
}

void sfb_heap_tail_allocated(void *block, size_t size, const struct sfb_regs *caller)
{
    set_state(SFB_HEAP_AT_WORK);
    if (block)
        sfb_live_allocated(block, size, sfb_heap_usable_new(block), caller);
    set_state(SFB_HEAP_IDLE);
}

void sfb_heap_tail_remember(void *block, const struct sfb_regs *caller)
{
    if (sfb_heap_local.state != SFB_HEAP_IDLE)
        return;
    set_state(SFB_HEAP_AT_WORK);
    sfb_live_remember(block, sfb_heap_usable_given(block), caller);
    set_state(SFB_HEAP_IDLE);
}

__attribute__((noinline)) void sfb_heap_tail_remember_here(void *block)
{
    const struct sfb_regs caller = SFB_HEAP_RETURN_HERE;

    sfb_heap_tail_remember(block, &caller);
}

/* Re-entrant call, from a signal handler: not recorded. The table keeps the block as live. */
bool sfb_heap_tail_freed(void *block, enum sfb_heap_state state)
{
    if (sfb_heap_local.state != SFB_HEAP_IDLE) {
        sfb_live_missed();
        return false;
    }
    set_state(SFB_HEAP_AT_WORK);
    sfb_live_freed(block, sfb_heap_usable_given(block));
    set_state(state);
    return true;
}

void *sfb_heap_tail_realloc(void *block, size_t size, const struct sfb_regs *caller)
{
    struct sfb_live_move move = { 0 };
    size_t tail;
    void *moved;

    if (sfb_heap_local.state != SFB_HEAP_IDLE) {
        sfb_live_missed();
        return sfb_heap_next.realloc(block, size);
    }
    set_state(SFB_HEAP_AT_WORK);
    sfb_live_moving(&move, block, sfb_heap_usable_given(block));
    set_state(SFB_HEAP_IDLE);
    tail = sfb_heap_tail_slowly(size);
    /* Size 0: the C library frees the block. Other allocators return their smallest block, which has room for a tail. */
    moved = sfb_heap_next.realloc(block, size > 0 ? size + sfb_heap_tail_room(tail) : 0);
    set_state(SFB_HEAP_AT_WORK);
    if (moved || size == 0) {
        if (moved != block && sfb_live_remembers())
            sfb_live_remember_moved(&move, caller);
        sfb_live_moved(&move);
        if (moved && tail > 0)
            sfb_live_allocated(moved, size, sfb_heap_usable_new(moved), caller);
    } else {
        sfb_live_stayed(&move);
    }
    set_state(SFB_HEAP_IDLE);
    return moved;
}

size_t sfb_heap_tail_usable(void *block)
{
    return sfb_live_usable(block, sfb_heap_next.malloc_usable_size(block));
}
