/* Blocks as the heap hooks make them: the C library's, with the tail of the live table. And what the table says of them. */
#ifndef LIVE_HEAP_BLOCKS_H
#define LIVE_HEAP_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/live/live.h"
#include "profiler/agent/live/table.h"
#include "profiler/protocol/live_sum.h"
#include "profiler/protocol/live_tails.h"
#include "profiler/protocol/live_view.h"

void *block_new(size_t size);
void *block_new_aligned(size_t alignment, size_t size);
void *block_new_zeroed(size_t size);
void *block_resize(void *p, size_t size); /* size > 0 */
void block_free(void *p);
size_t block_usable(void *p);

/* Begins a table of a size; the test fails if it does not. */
void table_begin(uint64_t size);

/* What lives. The amounts by stack are to be freed with sum_free(). */
struct sfb_live_sum sum_now(void);
void sum_free(struct sfb_live_sum *sum);

/* The table as a reader has it. */
struct sfb_live_view view_now(void);

/* Looks at all tails: sum->of[].overruns, too. @return to be freed */
struct sfb_live_tails *tails_now(struct sfb_live_sum *sum);

#endif
