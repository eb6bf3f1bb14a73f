/* This process's memory, as policies for walks. */
#ifndef SFB_UNWIND_PROCESS_LIVE_MEMORY_H
#define SFB_UNWIND_PROCESS_LIVE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "unwind/process/known_stack.h"
#include "unwind/process/pages.h"

/*
 * The memory of this process, for a walk that begins at sp.
 *
 * @param running  the calling code runs on this stack, near sp: the page of sp is mapped. Else (a
 *                 context) even that page is probed.
 */
static inline void sfb_memory_live(struct sfb_memory *out, uint64_t sp, bool running);

/* The same where sp is not on the known stack of this thread. May begin a trail. */
void sfb_memory_live_elsewhere(struct sfb_memory *out, uint64_t sp, bool running);

/* The same where the caller vouches that these bytes are readable. */
void sfb_memory_vouched(struct sfb_memory *out, uint64_t address, uint64_t size);

/* The memory of this process: all but the thread's known stack is probed. */
void sfb_memory_probed(struct sfb_memory *out);

/* The memory of this process: each page is probed. */
void sfb_memory_doubted(struct sfb_memory *out);

/* sfb_memory.read of doubted memory: each page is probed. */
bool sfb_memory_read_doubted(struct sfb_memory *memory, uint64_t address, uint64_t *out);

/* sfb_memory.read of all other memory. */
bool sfb_memory_read_probed(struct sfb_memory *memory, uint64_t address, uint64_t *out);

static inline void sfb_memory_live(struct sfb_memory *out, uint64_t sp, bool running)
{
    uint64_t lo = sfb_known_stack.lo, hi = sfb_known_stack.gap_lo;

    if (__builtin_expect(sp >= lo && sp < hi, 1))
        *out = (struct sfb_memory){ .lo = lo, .hi = hi, .read = sfb_memory_read_probed };
    else
        sfb_memory_live_elsewhere(out, sp, running);
}

#endif
