/*
 * What of this process's memory may be read.
 *
 * The calling thread's stack is known (known_stack.c). Everything else is probed, a page at a time,
 * and what was learnt is kept for the rest of the walk: about 120 ns for each 4 KiB of stack.
 *
 * The probe is rt_sigprocmask() with an invalid `how`: the kernel reads the new mask first, and
 * says EFAULT if it cannot, EINVAL if it can; the mask is never set. Tried and dropped elsewhere
 * (research on peers): a pipe or /dev/null opens descriptors; process_vm_readv() is forbidden in
 * containers; msync() and mincore() do not see PROT_NONE; a SIGSEGV handler of one's own belongs to
 * the program.
 */
#include "unwind/memory.h"

#include <errno.h>

#include "unwind/arch.h"
#include "unwind/known_stack.h"

#define PAGE 4096u

static bool page_readable(uint64_t address)
{
    /* Whatever a filter makes of the call (EPERM, ENOSYS) is a no: the walk then ends early. */
    return sfb_arch_sigprocmask(~(uint64_t)0, address & ~(uint64_t)(PAGE - 1)) == -EINVAL;
}

bool sfb_memory_probe(uint64_t address, uint64_t size)
{
    uint64_t page = address & ~(uint64_t)(PAGE - 1);

    if (size == 0)
        return true;
    if (address + (size - 1) < address)
        return false;
    for (uint64_t last = (address + (size - 1)) & ~(uint64_t)(PAGE - 1);; page += PAGE) {
        if (!page_readable(page))
            return false;
        if (page == last)
            return true;
    }
}

bool sfb_memory_read_probed(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    uint64_t page = address & ~(uint64_t)(PAGE - 1);

    if (sfb_known_stack_has(address)) {
        memory->lo = sfb_known_stack.lo;
        memory->hi = sfb_known_stack.hi;
        *out = sfb_load(address);
        return true;
    }
    if (!page_readable(page))
        return false;
    if (page == memory->hi && memory->hi > memory->lo) {
        memory->hi = page + PAGE;
    } else if (page + PAGE == memory->lo && memory->hi > memory->lo) {
        memory->lo = page;
    } else {
        memory->lo = page;
        memory->hi = page + PAGE;
    }
    *out = sfb_load(address);
    return true;
}

void sfb_memory_probed(struct sfb_memory *out)
{
    *out = (struct sfb_memory){ .read = sfb_memory_read_probed };
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
    if (sfb_known_stack_extend(sp, running)) {
        out->lo = sfb_known_stack.lo;
        out->hi = sfb_known_stack.hi;
    } else if (running || page_readable(sp)) {
        /* A context's sp may be below the stack: after an overflow it is. */
        out->lo = sp & ~(uint64_t)(PAGE - 1);
        out->hi = out->lo + PAGE;
    }
}
