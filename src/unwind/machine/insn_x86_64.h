/* Instructions of x86-64, as far as code is known by them. */
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

#endif
