#include "record/heap/tail.h"

#include <stdint.h>

#include "record/heap/next.h"
#include "record/heap/process.h"
#include "record/live/live.h"

#define SIZE_MOST ((size_t)PTRDIFF_MAX - SFB_LIVE_TAIL)

size_t sfb_heap_tail_slowly(size_t size)
{
    if (sfb_heap_mode() == SFB_HEAP_UNDECIDED)
        sfb_heap_process_look();
    return sfb_heap_mode() == SFB_HEAP_TABLE && sfb_heap_local.state == SFB_HEAP_IDLE &&
                   size <= SIZE_MOST
               ? SFB_LIVE_TAIL
               : 0;
}

static void enter(void)
{
    sfb_heap_local.state = SFB_HEAP_AT_WORK;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sfb_heap_local.state = SFB_HEAP_IDLE;
}

void sfb_heap_tail_allocated(void *block, size_t size, const struct sfb_regs *caller)
{
    if (!block)
        return;
    enter();
    sfb_live_allocated(block, size, sfb_heap_next.malloc_usable_size(block), caller);
    leave();
}

/* In a signal handler that came amid the above the table is not told: the block seems to live on. */
void sfb_heap_tail_freed(void *block)
{
    if (sfb_heap_local.state != SFB_HEAP_IDLE)
        return;
    enter();
    sfb_live_freed(block, sfb_heap_next.malloc_usable_size(block));
    leave();
}

void *sfb_heap_tail_realloc(void *block, size_t size, const struct sfb_regs *caller)
{
    const size_t tail = sfb_heap_tail_slowly(size);
    struct sfb_live_move move = { 0 };
    void *moved;

    if (sfb_heap_local.state != SFB_HEAP_IDLE)
        return sfb_heap_next.realloc(block, size);
    enter();
    sfb_live_moving(&move, block, sfb_heap_next.malloc_usable_size(block));
    leave();
    /* To nothing: the C library frees it, and others give the smallest block, which has room for a tail. */
    moved = sfb_heap_next.realloc(block, size > 0 ? size + tail : 0);
    enter();
    if (moved || size == 0) {
        sfb_live_moved(&move);
        if (moved && tail > 0)
            sfb_live_allocated(moved, size, sfb_heap_next.malloc_usable_size(moved), caller);
    } else {
        sfb_live_stayed(&move);
    }
    leave();
    return moved;
}

size_t sfb_heap_tail_usable(void *block)
{
    return sfb_live_usable(block, sfb_heap_next.malloc_usable_size(block));
}
