/* This process's memory, as policies for walks, and what the kernel says of its pages. */
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
 * @param running  the calling code runs on that very stack, near sp, so the page of sp is mapped.
 *                 Else (a context) not even that is believed.
 */
static inline void sfb_memory_live(struct sfb_memory *out, uint64_t sp, bool running);

/* The same where sp is not on what is known of this thread's stack. It may begin a trail. */
void sfb_memory_live_elsewhere(struct sfb_memory *out, uint64_t sp, bool running);

/* The same where somebody says that these bytes are there. */
void sfb_memory_vouched(struct sfb_memory *out, uint64_t address, uint64_t size);

/* The memory of this process, with nothing known of it but the thread's own stack. */
void sfb_memory_probed(struct sfb_memory *out);

/* The memory of this process, with nothing known at all. */
void sfb_memory_doubted(struct sfb_memory *out);

/* sfb_memory.read of the latter: each page is probed. */
bool sfb_memory_read_doubted(struct sfb_memory *memory, uint64_t address, uint64_t *out);

/* sfb_memory.read of the others. */
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
