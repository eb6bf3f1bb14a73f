/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * Memory: reads words of an address space, some of which may be unreadable. This process, a copied
 * stack, or a core file.
 */
#ifndef SFB_MEMORY_H
#define SFB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "api.h"

SFB_BEGIN_DECLS

/* How words of the unwound stack are read. */
struct sfb_memory {
    uint64_t lo, hi; /* [lo, hi) is read with plain loads; multiples of 8; lo == hi: empty */

    /*
     * Reads the word at any other address; false if it is unreadable. May widen [lo, hi) by bytes
     * found readable. NULL: nothing else is readable.
     */
    bool (*read)(struct sfb_memory *memory, uint64_t address, uint64_t *out);
    void *user;
};

SFB_END_DECLS

#endif
