#include "record/heap/tail.h"

#include <stdint.h>

#include "record/heap/next.h"
#include "record/heap/process.h"
#include "record/live/live.h"

#define SIZE_MOST ((size_t)PTRDIFF_MAX - SFB_LIVE_TAIL)

static void set_state(enum sfb_heap_state state)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sfb_heap_local.state = state;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static size_t usable_of(void *block)
{
    return sfb_heap_next.malloc_usable_size(block);
}

/* What the allocator calls by name is interposed, too: it gets what it asks for, and no tail. */
size_t sfb_heap_tail_slowly(size_t size)
{
    if (sfb_heap_mode() == SFB_HEAP_UNDECIDED)
        sfb_heap_process_look();
    if (sfb_heap_mode() != SFB_HEAP_TABLE || sfb_heap_local.state != SFB_HEAP_IDLE ||
        size > SIZE_MOST)
        return 0;
    set_state(SFB_HEAP_IN_CALL);
    return SFB_LIVE_TAIL;
}

void sfb_heap_tail_allocated(void *block, size_t size, const struct sfb_regs *caller)
{
    set_state(SFB_HEAP_AT_WORK);
    if (block)
        sfb_live_allocated(block, size, usable_of(block), caller);
    set_state(SFB_HEAP_IDLE);
}

/* In a signal handler that came amid all this the table is not told: the block seems to live on. */
bool sfb_heap_tail_freed(void *block, enum sfb_heap_state state)
{
    if (sfb_heap_local.state != SFB_HEAP_IDLE)
        return false;
    set_state(SFB_HEAP_AT_WORK);
    sfb_live_freed(block, usable_of(block));
    set_state(state);
    return true;
}

void *sfb_heap_tail_realloc(void *block, size_t size, const struct sfb_regs *caller)
{
    struct sfb_live_move move = { 0 };
    size_t tail;
    void *moved;

    if (sfb_heap_local.state != SFB_HEAP_IDLE)
        return sfb_heap_next.realloc(block, size);
    set_state(SFB_HEAP_AT_WORK);
    sfb_live_moving(&move, block, usable_of(block));
    set_state(SFB_HEAP_IDLE);
    tail = sfb_heap_tail_slowly(size);
    /* To nothing: the C library frees it, and others give the smallest block, which has room for a tail. */
    moved = sfb_heap_next.realloc(block, size > 0 ? size + tail : 0);
    set_state(SFB_HEAP_AT_WORK);
    if (moved || size == 0) {
        sfb_live_moved(&move);
        if (moved && tail > 0)
            sfb_live_allocated(moved, size, usable_of(moved), caller);
    } else {
        sfb_live_stayed(&move);
    }
    set_state(SFB_HEAP_IDLE);
    return moved;
}

size_t sfb_heap_tail_usable(void *block)
{
    return sfb_live_usable(block, usable_of(block));
}
