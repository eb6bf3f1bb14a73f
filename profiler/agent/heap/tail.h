/*
 * Blocks of a process with a live table (profiler/agent/live/live.h). Each is four bytes larger than the program asks,
 * and the table records it.
 */
#ifndef PROFILER_AGENT_HEAP_TAIL_H
#define PROFILER_AGENT_HEAP_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/heap/heap.h"
#include "profiler/agent/live/live.h"
#include "profiler/protocol/live.h"
#include "sfb/context.h"

/* sfb_heap_tail() outside the recording modes. After a result other than 0, sfb_heap_tail_allocated() has to follow. */
size_t sfb_heap_tail_slowly(size_t size);

enum { SFB_HEAP_BESIDE = 8 }; /* the table records the block, which gets no tail */

/* @return SFB_LIVE_TAIL or SFB_HEAP_BESIDE; 0: the table does not record the block */
static inline size_t sfb_heap_tail(size_t size)
{
    const enum sfb_heap_mode mode = sfb_heap_mode();

    return __builtin_expect(mode == SFB_HEAP_EVERY || mode == SFB_HEAP_SAMPLED, 1)
               ? 0
               : sfb_heap_tail_slowly(size);
}

/* @param tail  of sfb_heap_tail(). @return bytes to allocate in addition */
static inline size_t sfb_heap_tail_room(size_t tail)
{
    return tail & (size_t)SFB_LIVE_TAIL;
}

/* A block that the table records was allocated. NULL: the allocation failed */
void sfb_heap_tail_allocated(void *block, size_t size, const struct sfb_regs *caller);

/*
 * A block, with or without a tail, is about to be freed.
 *
 * @param state  of the hooks during the free
 * @return whether the caller sets the state IDLE after the free
 */
bool sfb_heap_tail_freed(void *block, enum sfb_heap_state state);

/* Where the calling function was called. It has a frame pointer then: for functions outside the common case. */
#define SFB_HEAP_RETURN_HERE                                                                       \
    {                                                                                              \
        .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),                                    \
        .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),                                          \
        .fp = *(const uint64_t *)__builtin_frame_address(0)                                        \
    }

/* A block, not NULL, is about to be freed, and freed blocks are remembered. sfb_heap_tail_freed() follows. */
void sfb_heap_tail_remember(void *block, const struct sfb_regs *caller);

/* The same; the stack begins with the function that calls this one. */
void sfb_heap_tail_remember_here(void *block);

/* Whether freed blocks are remembered. */
static inline bool sfb_heap_tail_remembers(void)
{
    return __builtin_expect(sfb_heap_has_tails(), 0) && sfb_live_remembers();
}

/* Does the whole realloc() of a block. */
void *sfb_heap_tail_realloc(void *block, size_t size, const struct sfb_regs *caller);

/* @return bytes of a block that the program may use */
size_t sfb_heap_tail_usable(void *block);

#endif
