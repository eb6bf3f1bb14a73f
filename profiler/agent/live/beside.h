/*
 * The slots of large blocks, found by the block's address in a hash table beside the blocks. A tail would take a block of
 * 4,096 bytes to the allocator's next size class, a quarter more. A small block has a tail, which is faster to read.
 *
 * An entry has 32 bits of the address's hash, and the number of the slot. The slot has the address. No lock: a thread puts
 * and removes only blocks that it allocates and frees.
 */
#ifndef PROFILER_AGENT_LIVE_BESIDE_H
#define PROFILER_AGENT_LIVE_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/agent/live/table.h"

/* Stores the slot of a block. @return false: no room */
bool sfb_live_beside_put(struct sfb_live_thread *thread, const void *p, uint32_t slot);

/* @return the slot of a block; 0: not found */
uint32_t sfb_live_beside_find(struct sfb_live_thread *thread, const void *p);

/* Called before the slot is given back. */
void sfb_live_beside_remove(struct sfb_live_thread *thread, uint64_t address, uint32_t slot);

#endif
