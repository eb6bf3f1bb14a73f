/*
 * Reads words of an address space, some of which may be unreadable.
 *
 * A word inside [lo, hi) is a plain load. For any other word the policy's function is called: it probes,
 * reads from a fake, or refuses.
 */
#ifndef SFB_BASE_MEMORY_H
#define SFB_BASE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/memory.h"

/* The walk reads other functions' frames, where sanitizers see red zones and missing locks. */
#define SFB_NO_SANITIZE __attribute__((no_sanitize("address"), no_sanitize("thread")))

SFB_NO_SANITIZE static inline uint64_t sfb_load(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address;
}

/* address must be a multiple of 8, so that a word never lies on two pages. */
static inline bool sfb_memory_read(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    if (address - memory->lo < memory->hi - memory->lo) {
        *out = sfb_load(address);
        return true;
    }
    return memory->read && memory->read(memory, address, out);
}

/* Reads bytes at any alignment, word by word. */
bool sfb_memory_copy(struct sfb_memory *memory, uint64_t address, void *out, uint64_t size);

#endif
