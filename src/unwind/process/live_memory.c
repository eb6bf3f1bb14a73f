/*
 * Which memory of this process is readable.
 *
 * The calling thread's stack is known (known_stack.c). All else is probed page by page (pages.c), and
 * the result is kept for the rest of the walk: about 120 ns for each 4 KiB of stack.
 */
#include "unwind/process/live_memory.h"

#include <stddef.h>

bool sfb_memory_read_doubted(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    uint64_t page = sfb_page_of(address);

    if (!sfb_page_probe(address))
        return false;
    if (page == memory->hi && memory->hi > memory->lo) {
        memory->hi = page + SFB_PAGE_SIZE;
    } else if (page + SFB_PAGE_SIZE == memory->lo && memory->hi > memory->lo) {
        memory->lo = page;
    } else {
        memory->lo = page;
        memory->hi = page + SFB_PAGE_SIZE;
    }
    *out = sfb_load(address);
    return true;
}

bool sfb_memory_read_probed(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    if (!sfb_known_stack_range(address, &memory->lo, &memory->hi))
        return sfb_memory_read_doubted(memory, address, out);
    *out = sfb_load(address);
    return true;
}

void sfb_memory_probed(struct sfb_memory *out)
{
    *out = (struct sfb_memory){ .read = sfb_memory_read_probed };
}

void sfb_memory_doubted(struct sfb_memory *out)
{
    *out = (struct sfb_memory){ .read = sfb_memory_read_doubted };
}

void sfb_memory_vouched(struct sfb_memory *out, uint64_t address, uint64_t size)
{
    sfb_memory_probed(out);
    out->lo = (address + 7) & ~(uint64_t)7;
    out->hi = (address + size) & ~(uint64_t)7;
    if (out->hi < out->lo)
        out->lo = out->hi = 0;
}

void sfb_memory_live_elsewhere(struct sfb_memory *out, uint64_t sp, bool running)
{
    sfb_memory_probed(out);
    sfb_stack_trail_begin(out, sp);
    if (sfb_known_stack_range(sp, &out->lo, &out->hi))
        return;
    /* A context's sp may be below the stack, as after an overflow. */
    if (running || sfb_page_probe(sp)) {
        out->lo = sfb_page_of(sp);
        out->hi = out->lo + SFB_PAGE_SIZE;
        if (out->user)
            sfb_stack_trail_follow(out, out->hi);
    } else {
        out->user = NULL;
    }
}
