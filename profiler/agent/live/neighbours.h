/*
 * What the neighbours of a block say of its size. glibc stores the size of a chunk in the word before its block. Where a
 * block ends, that word of the next chunk begins. It says, too, that the chunk before is in use.
 *
 * A block that ends elsewhere than when it was allocated is a later one, from past the agent; or the block before it was
 * overrun, and the size is overwritten.
 *
 * Signals: safe.   Cost: a system call for each page looked at.
 */
#ifndef PROFILER_AGENT_LIVE_NEIGHBOURS_H
#define PROFILER_AGENT_LIVE_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

/* The allocator stores sizes so: the other functions can be called. Set before the first table begins. */
extern bool sfb_live_has_headers;

/* Whether a chunk in use ends where the block would end with so many usable bytes. */
bool sfb_live_ends_there(const void *block, size_t usable);

/* Whether the chunks behind the block, from `usable` on, lead to `to`: the block was split. */
bool sfb_live_was_split(const void *block, size_t usable, size_t to);

#endif
