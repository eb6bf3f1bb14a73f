#include "record/heap/table.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "record/agent.h"
#include "record/heap/next.h"
#include "record/heap/process.h"
#include "record/heap/sample.h"
#include "record/interpose.h"
#include "record/live/api.h"
#include "record/live/environment.h"
#include "record/live/lists.h"
#include "record/live/live.h"
#include "record/real.h"

#define SIZE_MOST ((size_t)PTRDIFF_MAX - SFB_LIVE_TAIL)

/* --- beginning and end ---------------------------------------------------------------------------- */

/* Only where nothing is recorded. */
static bool begin(void)
{
    uint32_t off = SFB_HEAP_OFF;

    sfb_heap.tails = true;
    sfb_heap_look_at_all();
    return __atomic_compare_exchange_n(&sfb_heap.mode, &off, SFB_HEAP_TABLE, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void end(void)
{
    uint32_t table = SFB_HEAP_TABLE;

    __atomic_compare_exchange_n(&sfb_heap.mode, &table, SFB_HEAP_OFF, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}

static void libraries_change(bool unloaded)
{
    if (!sfb_live_is_on())
        return;
    if (unloaded)
        sfb_live_lists_renew(true);
    else
        sfb_live_lists_expect();
}

/* A copy of the thread that called fork() may have been in the middle of something: it is not, here. */
static void after_fork_in_child(void)
{
    if (sfb_heap_mode() == SFB_HEAP_TABLE)
        sfb_live_continue_in_child();
}

void sfb_heap_table_prepare(void)
{
    static const struct sfb_live_hooks hooks = { begin, end };

    sfb_live_use_hooks(&hooks);
    sfb_agent.libraries_change = libraries_change;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    at_quick_exit(sfb_live_end);
}

bool sfb_heap_table_look(void)
{
    return sfb_live_start_by_environment();
}

/* Ways out of the process that run no destructors. */
SFB_INTERPOSED void _exit(int status)
{
    sfb_live_end();
    sfb_real()->exit_now(status);
    __builtin_unreachable();
}

SFB_INTERPOSED void _Exit(int status)
{
    _exit(status);
}

/* --- blocks --------------------------------------------------------------------------------------- */

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

void sfb_heap_table_allocated(void *block, size_t size, const struct sfb_regs *caller)
{
    if (!block)
        return;
    enter();
    sfb_live_allocated(block, size, sfb_heap_next.malloc_usable_size(block), caller);
    leave();
}

/* In a signal handler that came amid the above the table is not told: the block seems to live on. */
void sfb_heap_table_freed(void *block)
{
    if (sfb_heap_local.state != SFB_HEAP_IDLE)
        return;
    enter();
    sfb_live_freed(block, sfb_heap_next.malloc_usable_size(block));
    leave();
}

void *sfb_heap_table_realloc(void *block, size_t size, const struct sfb_regs *caller)
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

size_t sfb_heap_table_usable(void *block)
{
    return sfb_live_usable(block, sfb_heap_next.malloc_usable_size(block));
}
