/* Instructions of x86-64, as far as patterns need them. */
#ifndef SFB_UNWIND_MACHINE_INSN_X86_64_H
#define SFB_UNWIND_MACHINE_INSN_X86_64_H

#include <string.h>

#include "base/memory.h"

enum { SFB_INSN_BYTES_MAX = 16 };

/* @return whether the code at an address is these bytes */
static inline bool sfb_insn_is(struct sfb_memory *code, uint64_t address, const uint8_t *want,
                               uint64_t n)
{
    uint8_t have[SFB_INSN_BYTES_MAX];

    return n <= sizeof have && sfb_memory_copy(code, address, have, n) &&
           memcmp(have, want, n) == 0;
}

/* Reads up to 8 bytes of code, the first lowest. (In words: sfb_memory_copy() takes more stack.) */
static inline __attribute__((always_inline)) bool sfb_insn_peek(struct sfb_memory *code,
                                                                uint64_t address, unsigned size,
                                                                uint64_t *out)
{
    const unsigned skip = address & 7;
    uint64_t word;

    if (!sfb_memory_read(code, address - skip, &word))
        return false;
    *out = word >> 8 * skip;
    if (skip + size > sizeof word) {
        if (!sfb_memory_read(code, address - skip + sizeof word, &word))
            return false;
        *out |= word << 8 * (sizeof word - skip);
    }
    *out &= ~(uint64_t)0 >> 8 * (sizeof word - size);
    return true;
}

#endif
