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
 * the program. Under memcheck, which takes the probe for a bug of the program, memcheck is asked.
 *
 * A page may be unmapped by another thread between the probe and the load: that is a race which
 * nobody can win without a handler of SIGSEGV, and the only one that is left here.
 */
#include "unwind/memory.h"

#include <errno.h>

#include "unwind/arch.h"
#include "unwind/known_stack.h"

/* --- Valgrind's memcheck -----------------------------------------------------------------------
 *
 * Its client requests are part of its documented interface: <valgrind/memcheck.h>.
 */

#define MEMCHECK_GET_VBITS (((uint64_t)'M' << 24 | (uint64_t)'C' << 16) + 8)

enum { GET_VBITS_DONE = 1 }; /* 0: there is no memcheck; else: it is not addressable */

/* Asked once. */
static enum { UNKNOWN, ABSENT, PRESENT } memcheck;

static uint64_t ask_memcheck(uint64_t word)
{
    uint64_t bits;
    const uint64_t request[6] = { MEMCHECK_GET_VBITS, word, (uintptr_t)&bits, sizeof bits };

    return sfb_arch_valgrind(request);
}

static __attribute__((noinline)) bool is_addressable(uint64_t address)
{
    return ask_memcheck(address & ~(uint64_t)7) == GET_VBITS_DONE;
}

static __attribute__((noinline)) bool has_memcheck(void)
{
    uint64_t word = 0;

    memcheck = ask_memcheck((uintptr_t)&word) == GET_VBITS_DONE ? PRESENT : ABSENT;
    return memcheck == PRESENT;
}

/* --- Pages -------------------------------------------------------------------------------------
 */

bool sfb_memory_probe_page(uint64_t address)
{
    if (__builtin_expect(memcheck != ABSENT, 0) && has_memcheck())
        return is_addressable(address);
    /* Whatever a filter makes of the call (EPERM, ENOSYS) is a no: the walk then ends early. */
    return sfb_arch_sigprocmask(~(uint64_t)0, sfb_page_of(address)) == -EINVAL;
}

bool sfb_memory_probe(uint64_t address, uint64_t size)
{
    uint64_t at = address;

    if (size == 0)
        return true;
    if (address + (size - 1) < address)
        return false;
    for (uint64_t last = sfb_page_of(address + (size - 1));; at = sfb_page_of(at) + SFB_PAGE_SIZE) {
        if (!sfb_memory_probe_page(at))
            return false;
        if (sfb_page_of(at) == last)
            return true;
    }
}

__attribute__((noinline)) uint64_t sfb_memory_readable_part(uint64_t address, uint64_t size)
{
    /* Pages up to `good` can be read, those from `bad` on cannot. */
    uint64_t good = sfb_page_of(address) - SFB_PAGE_SIZE, bad = sfb_page_of(address + (size - 1));

    if (address + (size - 1) < address)
        return 0;
    while (bad - good > SFB_PAGE_SIZE) {
        uint64_t middle = sfb_page_of(good + (bad - good) / 2);

        if (sfb_memory_probe_page(middle))
            good = middle;
        else
            bad = middle;
    }
    return bad > address ? bad - address : 0;
}

bool sfb_memory_read_doubted(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    uint64_t page = sfb_page_of(address);

    if (!sfb_memory_probe_page(address))
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
    /* A context's sp may be below the stack: after an overflow it is. */
    if (running || sfb_memory_probe_page(sp)) {
        out->lo = sfb_page_of(sp);
        out->hi = out->lo + SFB_PAGE_SIZE;
        if (out->user)
            sfb_stack_trail_follow(out, out->hi);
    } else {
        out->user = NULL;
    }
}
