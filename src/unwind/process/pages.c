/*
 * The probe is rt_sigprocmask() with an invalid `how`: the kernel reads the new mask first, and
 * says EFAULT if it cannot, EINVAL if it can; the mask is never set. Tried and dropped elsewhere
 * (research on peers): a pipe or /dev/null opens descriptors; process_vm_readv() is forbidden in
 * containers; msync() and mincore() do not see PROT_NONE; a SIGSEGV handler of one's own belongs to
 * the program. Under memcheck, which takes the probe for a bug of the program, memcheck is asked.
 *
 * A page may be unmapped by another thread between the probe and the load: that is a race which
 * nobody can win without a handler of SIGSEGV, and the only one that is left here.
 */
#include "unwind/process/pages.h"

#include <errno.h>

#include "unwind/machine/native.h"

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

bool sfb_page_probe(uint64_t address)
{
    if (__builtin_expect(memcheck != ABSENT, 0) && has_memcheck())
        return is_addressable(address);
    /* Whatever a filter makes of the call (EPERM, ENOSYS) is a no: the walk then ends early. */
    return sfb_arch_sigprocmask(~(uint64_t)0, sfb_page_of(address)) == -EINVAL;
}

bool sfb_pages_probe(uint64_t address, uint64_t size)
{
    uint64_t at = address;

    if (size == 0)
        return true;
    if (address + (size - 1) < address)
        return false;
    for (uint64_t last = sfb_page_of(address + (size - 1));; at = sfb_page_of(at) + SFB_PAGE_SIZE) {
        if (!sfb_page_probe(at))
            return false;
        if (sfb_page_of(at) == last)
            return true;
    }
}

__attribute__((noinline)) uint64_t sfb_pages_readable_part(uint64_t address, uint64_t size)
{
    /* Pages up to `good` can be read, those from `bad` on cannot. */
    uint64_t good = sfb_page_of(address) - SFB_PAGE_SIZE, bad = sfb_page_of(address + (size - 1));

    if (address + (size - 1) < address)
        return 0;
    while (bad - good > SFB_PAGE_SIZE) {
        uint64_t middle = sfb_page_of(good + (bad - good) / 2);

        if (sfb_page_probe(middle))
            good = middle;
        else
            bad = middle;
    }
    return bad > address ? bad - address : 0;
}
