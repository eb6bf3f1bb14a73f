/*
 * Blocks of a process with a live table (record/live/live.h): each is four bytes larger than the program asks, and the
 * table is told of it.
 */
#ifndef SFB_RECORD_HEAP_TAIL_H
#define SFB_RECORD_HEAP_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "record/heap/heap.h"
#include "sfb/context.h"

/* sfb_heap_tail() in all modes but those that record. Where it is not 0, sfb_heap_tail_allocated() has to follow. */
size_t sfb_heap_tail_slowly(size_t size);

/* @return bytes that are to be allocated besides; 0: the table is not told of the block */
static inline size_t sfb_heap_tail(size_t size)
{
    const enum sfb_heap_mode mode = sfb_heap_mode();

    return __builtin_expect(mode == SFB_HEAP_EVERY || mode == SFB_HEAP_SAMPLED, 1)
               ? 0
               : sfb_heap_tail_slowly(size);
}

/* A block with such a tail was allocated. NULL: it was not. */
void sfb_heap_tail_allocated(void *block, size_t size, const struct sfb_regs *caller);

/*
 * One is about to be freed, with a tail or without.
 *
 * @param state  of the hooks meanwhile
 * @return whether the caller sets the state IDLE when it is freed
 */
bool sfb_heap_tail_freed(void *block, enum sfb_heap_state state);

/* realloc() of a block. */
void *sfb_heap_tail_realloc(void *block, size_t size, const struct sfb_regs *caller);

/* @return what the program may use of a block */
size_t sfb_heap_tail_usable(void *block);

#endif
