/*
 * FNV-1a, 64 bits: a hash of bytes, the same on every machine and in every run.
 *
 * Threads, signals: safe. Inline, for agents, which link no library of this folder.
 */
#ifndef UTIL_FNV_H
#define UTIL_FNV_H

#include <stddef.h>
#include <stdint.h>

/* Where a hash begins. */
#define SFB_FNV_START UINT64_C(0xcbf29ce484222325)

/* @return the hash of what was hashed before, and of these bytes behind it */
static inline uint64_t sfb_fnv(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
