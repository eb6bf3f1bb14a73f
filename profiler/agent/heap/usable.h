/*
 * The usable size of a block, for its tail. What a program frees may be no block: malloc_usable_size() of garbage may read
 * anywhere, and so would the search for the tail. The program is then to end in the allocator, with its message.
 */
#ifndef PROFILER_AGENT_HEAP_USABLE_H
#define PROFILER_AGENT_HEAP_USABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "profiler/agent/heap/next.h"

/*
 * glibc stores the size of a block's chunk in the word before the block, with three flags. The chunk begins 16 bytes before
 * the block, and the block ends 8 bytes behind the chunk.
 *
 * malloc_usable_size() reads the next chunk's header, too: a line that is seldom in the cache, and with a size that is
 * garbage, anywhere.
 */
enum { SFB_HEAP_CHUNK_FLAGS = 7, SFB_HEAP_CHUNK_IS_MMAPPED = 2, SFB_HEAP_CHUNK_OVERHEAD = 8 };

/* Whether the allocator's headers are such: sfb_heap_usable_begin() compares. */
extern bool sfb_heap_has_headers;

static inline uint64_t sfb_heap_header(const void *block)
{
    uint64_t header;

    memcpy(&header, (const uint8_t *)block - sizeof header, sizeof header);
    return header;
}

/* Finds out how the allocator stores sizes. Before the first block is recorded, or gets a tail. */
void sfb_heap_usable_begin(void);

/* Of a block that the allocator has just given out. */
static inline size_t sfb_heap_usable_fresh(void *block)
{
    const uint64_t header =
        sfb_heap_has_headers ? sfb_heap_header(block) : SFB_HEAP_CHUNK_IS_MMAPPED;

    return __builtin_expect(header & SFB_HEAP_CHUNK_IS_MMAPPED, 0)
               ? sfb_heap_next.malloc_usable_size(block)
               : (size_t)(header & ~(uint64_t)SFB_HEAP_CHUNK_FLAGS) - SFB_HEAP_CHUNK_OVERHEAD;
}

/* The same, and remembers where the block is. */
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
