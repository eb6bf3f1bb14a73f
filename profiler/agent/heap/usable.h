/*
 * The usable size of a block, for its tail. What a program frees may be no block: malloc_usable_size() of garbage may read
 * anywhere, and so would the search for the tail. The program is then to end in the allocator, with its message.
 */
#ifndef PROFILER_AGENT_HEAP_USABLE_H
#define PROFILER_AGENT_HEAP_USABLE_H

#include <stddef.h>

/* Finds out how the allocator stores sizes. Before the first block gets a tail. */
void sfb_heap_usable_begin(void);

/* Of a block that the allocator has just given out. */
size_t sfb_heap_usable_new(void *block);

/*
 * Of an address that the program calls a block.
 *
 * @return 0: it is no block, or its header was overwritten; else the last bytes are readable
 *
 * Signals: safe; errno is left alone.   Cost: a system call if the block crosses a page where no block was seen.
 */
size_t sfb_heap_usable_given(void *block);

#endif
